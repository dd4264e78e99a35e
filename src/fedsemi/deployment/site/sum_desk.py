"""What a site needs for masked sums beside its memory: a signing key and a vault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.deployment.certificates import read_site_key
from fedsemi.deployment.site.peers import SiteIdentity
from fedsemi.deployment.site.sum_vault import DiskVault
from fedsemi.method import Method
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.masked import Masked


@dataclass(frozen=True)
class SumDesk:
    """Where vaults lie, and the key of a real site; a simulated one signs nothing."""

    folder: Path
    site: Path | None = None
    key: Path | None = None


@contextmanager
def with_sums(
    desk: SumDesk | None, method: Method[Any], stage: int
) -> Iterator[Method[Any]]:
    """Give a masked method what it needs at a site, to one message at a time."""
    if desk is None or not isinstance(method, Masked):
        yield method
        return
    vault = DiskVault(desk.folder / f"sums-{stage:03}")
    with vault.locked():
        if desk.site is None or desk.key is None:
            yield method.at(Unsigned(), vault)
        else:
            identity = SiteIdentity(desk.site, read_site_key(desk.key))
            yield method.at(identity, vault)
