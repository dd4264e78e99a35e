"""Simulations on Flower: on its Ray runtime, or on a loopback grid."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

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


def run_on_loopback(simulation: Simulation) -> Iterator[Step]:
    """Run all stages through Flower's records, without its transport."""
    clients = simulation.federation.clients
    with dealt(simulation) as app:
        yield from _on_grid(LoopbackGrid(app, len(clients)), simulation)


def run_on_ray(simulation: Simulation, watch: Callable[[Iterator[Step]], T]) -> T:
    """Run all stages on Flower's simulation runtime, one core for each client.

    Args:
        simulation: What to run.
        watch: Consumes the steps; it is called in the thread of the ServerApp.

    Returns:
        What `watch` returns.
    """
    from flwr.simulation import run_simulation

    num_sites = len(simulation.federation.clients)
    server, results = ServerApp(), list[T]()

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        results.append(watch(_on_grid(grid, simulation)))

    with dealt(simulation) as app:
        logging.getLogger("flwr").setLevel(logging.ERROR)
        _start_ray()
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


def _start_ray() -> None:
    """Start Ray before Flower does, so that a failure ends the run and says why."""
    # Its workers inherit these: one torch thread gives the same bits everywhere.
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray

        paths = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
        ray.init(runtime_env=paths, include_dashboard=False, log_to_driver=False)
    except ImportError:
        raise ConfigError(
            "this needs Ray; install it with: pip install 'fedsemi[flower]'",
            code="FS5004",
        ) from None
    except Exception as error:
        raise _ray_failed("did not start", error) from error


def _ray_failed(how: str, error: BaseException) -> FedSemiError:
    reason = " ".join(str(error).split())[:200]
    return FedSemiError(
        f"Ray {how} ({type(error).__name__}: {reason}); try again when memory and "
        "cores are free, or leave out --engine flower, which gives the same result",
        code="FS5010",
    )


@contextmanager
def dealt(simulation: Simulation) -> Iterator[ClientApp]:
    """Give every client a folder for a while, and an app that works there."""
    with tempfile.TemporaryDirectory(prefix="fedsemi-sites-") as name:
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
