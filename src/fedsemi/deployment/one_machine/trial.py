"""A whole federation on one machine: every side its own process, over TLS."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.coordinator.coordinator import RUN, Coordinator, forget
from fedsemi.deployment.site.node import Node

_HOSTS = ("127.0.0.1", "localhost")


def run_trial(folder: Path, show: Callable[[str], None]) -> None:
    """Run the coordinator and all sites of a dealt-out folder to the end."""
    sites = site_folders(folder)
    make_certificates(folder / "coordinator", sites, _HOSTS)
    forget(folder / "coordinator")
    # A trial begins anew; a real coordinator never replaces a finished run.
    shutil.rmtree(folder / "coordinator" / RUN, ignore_errors=True)
    for site in sites:  # which would sum no round a second time among others
        shutil.rmtree(site / "memory", ignore_errors=True)
    coordinator = Coordinator(folder / "coordinator", port=processes.free_port())
    server = f"127.0.0.1:{coordinator.port}"
    with coordinator.serving(), running_sites(sites, server):
        show(f"a coordinator and {len(sites)} sites on {server}, with TLS and keys")
        coordinator.submit()
        coordinator.wait(show)


def site_folders(folder: Path) -> list[Path]:
    """Find the sites of a dealt-out folder."""
    return sorted(path.parent for path in folder.glob("*/site.json"))


@contextmanager
def running_sites(
    folders: list[Path], server: str
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep a SuperNode running for each site."""
    nodes = [Node(folder, server).start() for folder in folders]
    try:
        yield nodes
    finally:
        for node in nodes:
            processes.stop(node)
