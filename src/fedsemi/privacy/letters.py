"""What travels in the steps of a masked sum: letters of the server, and the answers.

Each is a small JSON text with bytes in hexadecimal, checked field by field when it is
read; only the masked numbers themselves travel as tensors.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fedsemi.errors import ProtocolError
from fedsemi.privacy.keys import hashed, numbers, told
from fedsemi.privacy.parameters import MOST_SITES, PROTOCOL, Phase

SiteId = Annotated[int, Field(ge=0, lt=2**31)]
Key = Annotated[bytes, Field(min_length=32, max_length=32)]
Sealed = Annotated[bytes, Field(max_length=1000)]
Signature = Annotated[bytes, Field(max_length=1000)]
Share = Annotated[bytes, Field(max_length=64)]
Sites = Annotated[tuple[SiteId, ...], Field(max_length=MOST_SITES)]


class Letter(BaseModel):
    """Any of them."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        ser_json_bytes="hex",
        val_json_bytes="hex",
    )

    def written(self) -> bytes:
        """Return the text."""
        return self.model_dump_json().encode()

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Read a text, or refuse it in a line."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])[:60]
            raise ProtocolError(
                f"a letter of a masked sum is no {cls.__name__} (at '{where}')",
                code="FS6010",
            ) from None


class Begin(Letter):
    """To every site, with the model: train, and make keys for this session."""

    nonce: Key


class Advert(Letter):
    """A site's answer: its public keys, and what binds it to its own masks."""

    site: SiteId
    seal: Key
    """Others encrypt shares for this site with it."""
    pair: tuple[Key, Key]
    """For the masks that two sites share, one key for each sum."""
    own: tuple[Key, Key]
    """Commitments to the seeds of the site's own masks."""
    signer: Annotated[bytes, Field(max_length=1000)] = b""
    """The public key that the site is enrolled with; empty in a simulation."""
    signature: Signature = b""

    def signed_text(self, session: bytes) -> bytes:
        """Return what the signature is of."""
        parts = (self.seal, *self.pair, *self.own, self.signer)
        return told(PROTOCOL, "advert", session, self.site, *parts)


class Roster(Letter):
    """To all that made keys: whose keys there are."""

    adverts: Annotated[tuple[Advert, ...], Field(max_length=MOST_SITES)]


class Envelopes(Letter):
    """A site's answer: its shares, sealed for each of the others; and back to them."""

    sealed: dict[SiteId, Sealed]
    """By the other site: in the answer by receiver, in the letter by sender."""


class Survivors(Letter):
    """To all whose numbers came: of whom they are the sum."""

    sites: Sites


class Consent(Letter):
    """A site's answer: it has seen this set, and will see no other."""

    signature: Signature


class Consents(Letter):
    """To the same sites: what all of them signed."""

    signatures: dict[SiteId, Signature]


class Opened(Letter):
    """A site's answer: of each site one share, of its own mask or of its pair key."""

    own: dict[SiteId, Share]
    """Of those whose numbers came."""
    pair: dict[SiteId, Share]
    """Of those who were lost after they had shared their keys."""


class Totals(Letter):
    """To all that are left: what the claims of all sites come to."""

    text: str
    """Numbers in hexadecimal, exact, separated by blanks."""

    @classmethod
    def of(cls, values: list[float]) -> Self:
        """Write numbers."""
        return cls(text=" ".join(value.hex() for value in values))

    def values(self) -> list[float]:
        """Read them."""
        try:
            return [float.fromhex(part) for part in self.text.split()]
        except (ValueError, OverflowError):
            raise ProtocolError("totals are no numbers", code="FS6010") from None


class Dealt(Totals):
    """The same where steps are summed in groups: with whom the receiver sums."""

    group: Sites


def consent_text(session: bytes, phase: Phase, sites: tuple[int, ...]) -> bytes:
    """Return what a site signs of a set."""
    return told(PROTOCOL, "consent", session, phase, numbers(sites))


def session_id(context: str, round: int, nonce: bytes) -> bytes:
    """Name a session: of one plan and stage, one round, one attempt."""
    return hashed(PROTOCOL, "session", context, round, nonce)


def sum_context(
    phase: Phase, roster: Roster, sites: tuple[int, ...], bound: bytes
) -> bytes:
    """Name all that the masks of a sum are bound to.

    Sites that were shown different keys, different sets, models or totals derive masks
    that do not cancel: their sum is noise, and an answer to nothing.
    """
    return hashed(PROTOCOL, "sum", phase, roster.written(), numbers(sites), bound)
