"""The workflow of a job of NVIDIA FLARE that carries out a fedsemi plan.

It is a controller that FLARE's server runs. The loop, the method, the gate and the
records are those of `fedsemi server`; FLARE starts clients, vouches for their names and
carries letters.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.workflows.model_controller import ModelController

from fedsemi.config.blueprint import read_blueprint
from fedsemi.deployment import processes
from fedsemi.deployment.coordinator.coordinator import PLAN
from fedsemi.deployment.coordinator.deployed import LOG, Terms, run_recorded
from fedsemi.deployment.coordinator.flare_grid import FlareGrid, NamedRegister
from fedsemi.text.screen import Screen


class FedsemiController(ModelController):  # type: ignore[misc]
    """Runs the plan of a coordinator's folder on the clients of a job."""

    def __init__(
        self,
        folder: str,
        clients: dict[str, int],
        deadline: float = 600.0,
        quorum: float = 0.5,
        join: float = 600.0,
    ) -> None:
        """Make one; a job's configuration names these.

        Args:
            folder: A coordinator's, with plan.json, as `fedsemi deal` writes it.
            clients: The number of the site that each client of FLARE is, by name.
            deadline: Seconds per round.
            quorum: Share of the asked sites that must answer.
            join: Seconds to wait for sites.
        """
        super().__init__(persistor_id="", ignore_result_error=True)
        self.folder = folder
        self.clients = clients
        self.deadline = deadline
        self.quorum = quorum
        self.join = join

    def run(self) -> None:
        """Carry out the plan; records and model go to the folder `run`."""
        folder = Path(self.folder)
        plan = (folder / PLAN).read_text("utf-8")
        settings = {"plan": plan, "ticket": secrets.token_hex(16)}
        terms = Terms(
            settings, len(self.clients), self.deadline, self.quorum, self.join
        )
        grid = FlareGrid(self._hand_over, self._there, settings)
        register = NamedRegister(folder, self.clients)
        with processes.open_log(folder / LOG) as log:
            screen = Screen(file=log, width=200)
            run_recorded(grid, read_blueprint(plan), terms, folder, register, screen)

    def _there(self) -> list[str]:
        names = {client.name for client in self.engine.get_clients()}
        return sorted(names & self.clients.keys())

    def _hand_over(
        self,
        name: str,
        params: Mapping[str, Any],
        meta: Mapping[str, Any],
        came: Callable[[Any], None],
    ) -> None:
        with _ONE_AT_A_TIME:
            self.send_model(
                data=FLModel(params=dict(params), meta=dict(meta), current_round=0),
                targets=[name],
                timeout=int(self.deadline),
                callback=came,
            )


_ONE_AT_A_TIME = threading.Lock()
"""FLARE notes what it sends in fields of the controller."""
