from __future__ import annotations

from functools import partial

import pytest

pytest.importorskip("flwr")

from fedsemi.cli.deployment import deal_out
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import run_on_grid
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.server.stages import Judge
from fedsemi.simulation.run import run_simulation

from ..conftest import tiny


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The same run in a simulation, and at sites that hold images out themselves."""
    folder = tmp_path_factory.mktemp("trial")
    sure = {"method": "semianagg", "rounds": 2, "learner": {"cutoff": 0.2}}
    simulation = tiny(
        evaluation={"validation_fraction": 0.3},
        stages=[{"method": "supervised", "rounds": 1}, sure],
    )
    deal_out(simulation, folder)
    app = client_app(partial(simulated_desk, simulation.as_json(), folder))
    grid = LoopbackGrid(app, 3)
    roster = Roster(grid, simulation)
    roster.wait_for(3, 10)
    steps = run_on_grid(grid, simulation, Judge(), roster)
    return [s.record for s in run_simulation(simulation)], [s.record for s in steps]


def test_sites_measure_the_model_that_they_receive_on_what_they_hold_out(records):
    simulated, deployed = records
    for before, after in zip(simulated, deployed[1:], strict=False):
        assert after.validation.num == before.validation.num > 0
        assert after.validation.accuracy == before.validation.accuracy
        assert after.validation.loss == pytest.approx(before.validation.loss)
    assert len(deployed) == len(simulated) == 3


def test_pseudo_labels_are_judged_at_real_sites_too(records):
    _, deployed = records
    unlabeled = [c for c in deployed[-1].clients.values() if c.num_pseudo]
    assert unlabeled
    for client in unlabeled:
        assert client.pseudo_label_accuracy is None
        assert client.pseudo_label_estimate is not None


def test_what_is_held_out_changes_no_bit_of_the_training(records):
    simulated, deployed = records
    for here, there in zip(simulated, deployed, strict=True):
        shares = [
            {id: c.contribution for id, c in r.clients.items()} for r in (here, there)
        ]
        assert shares[0] == shares[1]
