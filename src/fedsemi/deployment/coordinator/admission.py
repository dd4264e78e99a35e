"""Let sites in and out while a coordinator runs, for its operator.

A key is let in by the operator of the coordinator alone, who has it from the owner of
the site. Who is not in the folder `enrolled` is refused at the door, now as before.
"""

from __future__ import annotations

import json
from pathlib import Path

from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.config.blueprint import read_blueprint
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import ENROLLED
from fedsemi.deployment.coordinator.coordinator import PLAN, RUN
from fedsemi.deployment.coordinator.door import SECRET, Door
from fedsemi.deployment.coordinator.members import Members
from fedsemi.deployment.coordinator.register import read_enrolled, read_key
from fedsemi.errors import ConfigError
from fedsemi.storage import make_folder, write_whole

RETIRED_KEYS = "retired"


def admit(
    coordinator: Path, site: int, key: Path | None, counts: tuple[int, int] | None
) -> bool:
    """Enroll a site, also at a coordinator that runs; return whether one does.

    Args:
        coordinator: Its folder.
        site: The number that the site has in its site.json.
        key: The public key, from the owner's hand; None to let in one that is enrolled.
        counts: Labeled and unlabeled images that were agreed on, if any were.
    """
    _refuse_masked(coordinator)
    public = coordinator / ENROLLED / f"site-{site}.pub"
    if key is None and not public.exists():
        raise ConfigError(
            f"site {site} has no key in '{coordinator / ENROLLED}'; give the one that "
            "its owner has sent with --key site.pub",
            code="FS5045",
        )
    if key is not None:
        read_key(key)  # refused before it is copied
        _refuse_another(coordinator, site, key)
        write_whole(public, key.read_bytes())
    if counts is not None:
        labeled, unlabeled = counts
        due = {"num_labeled": labeled, "num_unlabeled": unlabeled}
        write_whole(public.with_suffix(".json"), json.dumps(due).encode())
    Members(coordinator).welcome(site)
    door = _door(coordinator)
    if door is not None:
        door.enroll(public_key_to_bytes(read_enrolled(coordinator)[site]))
    return door is not None


def retire(coordinator: Path, site: int) -> None:
    """Do without a site from the next round on, and refuse its key at the door."""
    public = coordinator / ENROLLED / f"site-{site}.pub"
    if not public.exists():
        raise ConfigError(
            f"site {site} is not enrolled in '{coordinator / ENROLLED}'", code="FS5045"
        )
    Members(coordinator).retire(site)
    kept = make_folder(coordinator / RETIRED_KEYS)
    public.replace(kept / public.name)


def _refuse_masked(coordinator: Path) -> None:
    plan, run = coordinator / PLAN, coordinator / RUN
    begun = any(run.glob("ckpt-*")) and not (run / "summary.json").exists()
    if not plan.exists() or not begun:
        return
    if read_blueprint(plan.read_bytes()).experiment.privacy.masked:
        raise ConfigError(
            "this run sums under masks, among sites that know each other by key from "
            "its start; admit the site when the run is over, and give its key to the "
            "owners of the others for their folders `peers`",
            code="FS5044",
        )


def _refuse_another(coordinator: Path, site: int, key: Path) -> None:
    """Refuse a key that is enrolled for another site, or a site with another key."""
    new = public_key_to_bytes(read_key(key))
    for number, known in read_enrolled(coordinator).items():
        same = public_key_to_bytes(known) == new
        if same != (number == site) and (same or number == site):
            why = f"is the key of site {number}" if same else "is not its enrolled key"
            raise ConfigError(
                f"'{key}' {why}; retire site {number} first, or give another number "
                "or key",
                code="FS5045",
            )


def _door(coordinator: Path) -> Door | None:
    """Find the door of the coordinator's server, if that is running."""
    home = coordinator.absolute() / "flower"
    if not (home / SECRET).exists():
        return None
    door = Door.read(coordinator, home)
    return door if processes.is_open("127.0.0.1", door.port) else None
