"""Sites that leave, pause and come back between the rounds of a loopback federation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from flwr.proto.node_pb2 import NodeInfo
from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.cli.deployment import deal_out
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.coordinator.members import MEMBERS, Members
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.trial import site_folders
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.deployment.site.standing import Standing, check_standing, write_standing
from fedsemi.deployment.standing import AWAY, LEFT
from fedsemi.errors import ConfigError
from fedsemi.server.stages import Judge
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from ..conftest import tiny


class Keyed(LoopbackGrid):
    """Node n + 1 owns the key of site n; some are not connected."""

    def __init__(self, app, folders):
        super().__init__(app, len(folders))
        self.offline: set[int] = set()
        self._folders = folders

    def get_nodes(self):
        for node in set(self.get_node_ids()) - self.offline:
            text = (self._folders[node - 1] / "keys/site.pub").read_bytes()
            key = public_key_to_bytes(load_ssh_public_key(text))
            yield NodeInfo(node_id=node, public_key=key)


class Federation:
    """A coordinator, three sites that heed their owners, and a grid between them."""

    def __init__(self, simulation, folder: Path) -> None:
        deal_out(simulation, folder)
        self.simulation, self.sites = simulation, site_folders(folder)
        self.coordinator = folder / "coordinator"
        make_certificates(self.coordinator, self.sites, ["localhost"])

        def desk(context):
            number = int(context.node_config["partition-id"])
            check_standing(folder / f"site-{number}")
            return simulated_desk(simulation.as_json(), folder, context)

        self.grid = Keyed(client_app(desk), self.sites)

    def steps(self, num_sites=3, start=None):
        roster = Roster(self.grid, self.simulation, Register(self.coordinator))
        roster.wait_for(num_sites, 10)
        return run_on_grid(self.grid, self.simulation, Judge(), roster, start=start)


@pytest.fixture
def federation(tmp_path):
    return Federation(tiny(rounds=4), tmp_path)


def _there(step):
    return sorted(step.record.clients)


def _noted(step):
    notices = [each for each in step.record.notices if each.client is not None]
    return [(each.client, each.code) for each in notices]


def test_a_site_that_leaves_says_so_once_and_is_not_asked_again(federation):
    seen = []
    for step in federation.steps():
        seen.append((_there(step), _noted(step)))
        if len(seen) == 2:
            write_standing(federation.sites[2], Standing("left"))
    # It is asked once more, and says so; from then on the rounds are without it.
    assert [there for there, _ in seen] == [[0], [0, 1, 2], [0, 1], [0, 1], [0, 1]]
    assert seen[3][1] == [(2, LEFT)]
    absent = Members(federation.coordinator).absent()
    assert absent[2].for_good and absent[2].reason == "has left the federation for good"


def test_a_site_that_pauses_comes_back_with_its_memory(federation):
    seen = []
    for step in federation.steps():
        seen.append((_there(step), _noted(step)))
        if len(seen) == 1:
            write_standing(federation.sites[1], Standing("away"))
        if len(seen) == 3:
            write_standing(federation.sites[1], Standing())
    assert [there for there, _ in seen] == [[0], [0, 2], [0, 2], [0, 1, 2], [0, 1, 2]]
    assert seen[2][1] == [(1, AWAY)] and seen[3][1] == [(1, "FS5043")]
    assert Members(federation.coordinator).absent() == {}


def test_rounds_with_sites_that_come_and_go_have_the_bits_of_a_simulation(tmp_path):
    """The plan says who is there when; here and there the same."""
    members = [
        {"site": 1, "joins": 3},
        {"site": 2, "away": 3, "back": 5},
    ]
    simulation = tiny(rounds=4, membership=members)
    *_, here = run_simulation(simulation)
    *_, there = Federation(simulation, tmp_path).steps()
    assert digest(there.weights) == digest(here.weights)
    assert _there(there) == [0, 1, 2]


def test_a_site_that_is_away_at_the_start_is_not_waited_for(federation):
    write_standing(federation.sites[1], Standing("away"))
    steps = federation.steps()
    assert _there(next(steps)) == [0]
    write_standing(federation.sites[1], Standing())
    assert [_there(step) for step in steps][-1] == [0, 1, 2]


def test_a_site_that_has_left_comes_back_only_if_the_operator_says_so(federation):
    members = Members(federation.coordinator)
    members.retire(2)
    steps = federation.steps(num_sites=2)
    seen = [_there(next(steps)), _there(next(steps))]
    members.welcome(2)
    seen += [_there(step) for step in steps]
    assert seen == [[0], [0, 1], [0, 1, 2], [0, 1, 2], [0, 1, 2]]


def test_who_was_retired_stays_so_whatever_it_says_of_itself(tmp_path):
    members = Members(tmp_path)
    members.retire(4)
    members.excuse(4, AWAY, "is away")
    assert members.absent()[4].for_good
    members.welcome(4)
    members.excuse(4, AWAY, "is away\n\x1b[31m")
    assert members.absent()[4].reason == r"is away\n\x1b[31m"


def test_a_damaged_list_is_named(tmp_path):
    (tmp_path / MEMBERS).write_text(json.dumps({"x": 1}))
    with pytest.raises(ConfigError, match=r"FS5045 .*members\.json' is damaged"):
        Members(tmp_path).absent()
