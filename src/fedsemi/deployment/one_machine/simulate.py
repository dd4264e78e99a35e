"""Simulations on Flower: on its Ray runtime, here or a cluster's, or in process."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from flwr.app import Context
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from fedsemi.data.site import Site, write_site
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.deployment.site.desk import Desk
from fedsemi.errors import ConfigError, FedSemiError
from fedsemi.plugins.handover import packed, unpacked
from fedsemi.runs.records import Step
from fedsemi.server.stages import Judge
from fedsemi.simulation.build import Simulation

T = TypeVar("T")

_JOIN_SECONDS = 300.0


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that is running, and a folder that all its machines see."""

    address: str
    folder: Path


def run_on_loopback(simulation: Simulation) -> Iterator[Step]:
    """Run all stages through Flower's records, without its transport."""
    clients = simulation.federation.clients
    with dealt(simulation) as app:
        yield from _on_grid(LoopbackGrid(app, len(clients)), simulation)


def run_on_ray(
    simulation: Simulation,
    watch: Callable[[Iterator[Step]], T],
    cluster: Cluster | None = None,
) -> T:
    """Run all stages on Flower's simulation runtime, one core for each client.

    Args:
        simulation: What to run.
        watch: Consumes the steps; it is called in the thread of the ServerApp.
        cluster: A Ray cluster that is there; None to start Ray on this machine.

    Returns:
        What `watch` returns.
    """
    from flwr.simulation import run_simulation

    num_sites = len(simulation.federation.clients)
    server, results = ServerApp(), list[T]()

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        results.append(watch(_on_grid(grid, simulation)))

    shared = None if cluster is None else cluster.folder
    with dealt(simulation, shared) as app:
        logging.getLogger("flwr").setLevel(logging.ERROR)
        _start_ray(cluster)
        try:
            run_simulation(
                server,
                app,
                num_sites,
                backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
            )
        except RuntimeError as error:
            raise _ray_failed("broke off", error.__cause__ or error) from error
    return results[0]


_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",  # one torch thread gives the same bits everywhere
    "FLWR_TELEMETRY_ENABLED": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def _start_ray(cluster: Cluster | None) -> None:
    """Start Ray before Flower does, so that a failure ends the run and says why."""
    os.environ.update(_ENVIRONMENT)
    # Workers of a cluster do not inherit this process's environment.
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    runtime: dict[str, Any] = {"env_vars": _ENVIRONMENT | paths}
    # "local": a cluster that somebody left behind on this machine is not joined.
    where: dict[str, Any] = {"include_dashboard": False, "address": "local"}
    if cluster is not None:
        where = {"address": cluster.address}
    try:
        import ray

        ray.init(runtime_env=runtime, log_to_driver=False, **where)
    except ImportError:
        raise ConfigError(
            "this needs Ray; install it with: pip install 'fedsemi[flower]'",
            code="FS5004",
        ) from None
    except Exception as error:
        how = "did not start" if cluster is None else f"at {cluster.address}: no answer"
        raise _ray_failed(how, error) from error


def _ray_failed(how: str, error: BaseException) -> FedSemiError:
    reason = " ".join(str(error).split())[:200]
    return FedSemiError(
        f"Ray {how} ({type(error).__name__}: {reason}); try again when memory and "
        "cores are free, or leave out --engine flower, which gives the same result",
        code="FS5010",
    )


@contextmanager
def dealt(simulation: Simulation, parent: Path | None = None) -> Iterator[ClientApp]:
    """Give every client a folder for a while, and an app that works there.

    Args:
        simulation: Whose clients.
        parent: Where all machines see the folders; None for this machine's own.
    """
    with tempfile.TemporaryDirectory(prefix="fedsemi-sites-", dir=parent) as name:
        folder = Path(name)
        for number, client in enumerate(simulation.federation.clients):
            write_site(folder / f"site-{number}", Site(client, simulation.class_names))
        yield client_app(partial(_desk, packed(simulation.as_json()), folder))


def _desk(handed: bytes, sites: Path, context: Context) -> Desk:
    """Open the desk of a simulated site, perhaps in a process of Ray's."""
    return simulated_desk(unpacked(handed), sites, context)


def _on_grid(grid: Grid, simulation: Simulation) -> Iterator[Step]:
    federation = simulation.federation
    roster = Roster(grid, simulation)
    roster.wait_for(len(federation.clients), _JOIN_SECONDS)
    judge = Judge(federation.test, federation.held_out)
    yield from run_on_grid(grid, simulation, judge, roster)
