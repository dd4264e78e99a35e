"""Who may be which site: numbers and counts, bound to the keys that are enrolled.

    enrolled/site-0.pub     the public key that is site 0, and nobody else is
    enrolled/site-0.json    how many images site 0 has

Who enrolls a key may write the second file as well, with the counts that were agreed
on. If it is missing, the first introduction that is accepted writes it, and from then
on the site has that many images, in every run, until somebody removes the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.deployment.certificates import ENROLLED
from fedsemi.deployment.coordinator.members import Members
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.text.printable import printable

_NAME = re.compile(r"site-(0|[1-9][0-9]{0,8})")


class Register:
    """The enrolled sites of one coordinator."""

    def __init__(self, coordinator: Path) -> None:
        self._coordinator = coordinator
        self.members = Members(coordinator)
        self._numbers()  # a mistake is better told before anybody joins

    def number_of(self, key: bytes) -> int | None:
        """Say which site a key is enrolled for, None if for none."""
        return self._numbers().get(key)

    def check(self, key: bytes, info: ClientInfo) -> None:
        """Accept what a site says of itself, or refuse it.

        Args:
            key: The public key that the site has proved to own.
            info: Its number and counts, as it says.
        """
        number = self.number_of(key)
        if number is None:
            raise ProtocolError(
                "a site is refused: its key does not lie in the folder "
                f"'{self._coordinator / ENROLLED}', or no longer",
                code="FS2126",
            )
        if info.id != number:
            raise ProtocolError(
                f"site {number} is refused: it says that it is site {info.id}; the id "
                f"in its site.json must be {number}, as its key is enrolled",
                code="FS2125",
            )
        self._check_counts(info)

    def _numbers(self) -> dict[bytes, int]:
        """Read whose key is which; again each time, for a key may be taken away."""
        enrolled = read_enrolled(self._coordinator)
        return {public_key_to_bytes(key): number for number, key in enrolled.items()}

    def _check_counts(self, info: ClientInfo) -> None:
        path = self._coordinator / ENROLLED / f"site-{info.id}.json"
        said = {"num_labeled": info.num_labeled, "num_unlabeled": info.num_unlabeled}
        if not path.exists():
            write_whole(path, json.dumps(said).encode())
        due = _counts(path)
        if said != due:
            raise ProtocolError(
                f"site {info.id} is refused: it has {_words(said)}, but is registered "
                f"with {_words(due)}; if its data may have changed, remove '{path}'",
                code="FS2127",
            )


def read_enrolled(coordinator: Path) -> dict[int, EllipticCurvePublicKey]:
    """Read the public keys of the sites that may join, by number of the site."""
    enrolled: dict[int, EllipticCurvePublicKey] = {}
    owners: dict[bytes, int] = {}
    for path in sorted((coordinator / ENROLLED).glob("*.pub")):
        named, key = _NAME.fullmatch(path.stem), read_key(path)
        if named is None:
            raise _wrong(
                path,
                "does not say which site it is; name it site-N.pub, N being the id in "
                "that site's site.json",
            )
        number = int(named[1])
        owner = owners.setdefault(public_key_to_bytes(key), number)
        if owner != number:
            raise _wrong(
                path,
                f"holds the key of site {owner}; each site needs a key of its own",
            )
        enrolled[number] = key
    return enrolled


def agreed_counts(coordinator: Path, site: int) -> tuple[int, int] | None:
    """Say how many labeled and unlabeled images a site has, if that is settled."""
    path = coordinator / ENROLLED / f"site-{site}.json"
    if not path.exists():
        return None
    found = _counts(path)
    return found["num_labeled"], found["num_unlabeled"]


def read_key(path: Path) -> EllipticCurvePublicKey:
    """Read the public key of a site."""
    try:
        key = load_ssh_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm) as error:
        raise _wrong(
            path,
            f"holds no public key ({error}); save there what `fedsemi key` made at "
            "the site",
        ) from None
    if not isinstance(key, EllipticCurvePublicKey):
        raise _wrong(
            path,
            "holds no elliptic-curve key; have one made at the site with `fedsemi key "
            "FOLDER`",
        )
    return key


def _wrong(path: Path, why: str) -> ConfigError:
    return ConfigError(f"'{printable(str(path))}' {why}", code="FS5030")


def _counts(path: Path) -> dict[str, int]:
    try:
        found = parsed_object(path.read_bytes())
        return {name: int(found[name]) for name in ("num_labeled", "num_unlabeled")}
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(
            f"'{path}' is damaged; it must hold num_labeled and num_unlabeled, or be "
            "removed",
            code="FS5033",
        ) from None


def _words(counts: dict[str, int]) -> str:
    return f"{counts['num_labeled']} labeled and {counts['num_unlabeled']} unlabeled"
