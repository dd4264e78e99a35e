"""Number and counts of a site are bound to the key that was enrolled for it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

pytest.importorskip("flwr")

from cryptography.hazmat.primitives.serialization import load_ssh_public_key
from flwr.proto.node_pb2 import NodeInfo
from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.cli.deployment import deal_out
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.certificates import make_certificates, make_site_key
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.trial import site_folders
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import ClientInfo


def _key_of(site):
    return public_key_to_bytes(
        load_ssh_public_key((site / "keys/site.pub").read_bytes())
    )


class Keyed(LoopbackGrid):
    """Node n + 1 has proved to own the key in site-n, as a SuperLink tells it."""

    def __init__(self, app, folders):
        super().__init__(app, len(folders))
        self._keys = {number: _key_of(f) for number, f in enumerate(folders, 1)}

    def get_nodes(self):
        return [
            NodeInfo(node_id=node, public_key=self._keys[node])
            for node in self.get_node_ids()
        ]


@pytest.fixture
def federation(simulation, tmp_path):
    """A coordinator's folder, those of three sites, and a grid between them."""
    deal_out(simulation, tmp_path)
    folders = site_folders(tmp_path)
    make_certificates(tmp_path / "coordinator", folders, ["localhost"])
    app = client_app(partial(simulated_desk, simulation.as_json(), tmp_path))
    return tmp_path / "coordinator", folders, lambda: Keyed(app, folders)


def _lie(simulation, folder, number, **changes):
    """Let a site say something else of itself."""
    client = simulation.federation.clients[number]
    write_site(folder, Site(replace(client, **changes), simulation.class_names))


def test_sites_join_as_who_they_are_enrolled(simulation, federation):
    coordinator, _, grid = federation
    roster = Roster(grid(), simulation, Register(coordinator))
    roster.wait_for(3, 10)
    assert roster.infos() == [c.info for c in simulation.federation.clients]


def test_a_key_enrolled_for_site_2_cannot_be_site_0(simulation, federation, caplog):
    """The true site 0 joins, and the other's claim is reported."""
    coordinator, folders, grid = federation
    _lie(simulation, folders[2], 0)
    roster = Roster(grid(), simulation, Register(coordinator))
    with pytest.raises(ProtocolError, match=r"FS2204 2 of 3 .*FS2125 site 2 is ref"):
        roster.wait_for(3, 0.1)
    assert [info.id for info in roster.infos()] == [0, 1]
    assert "node 3: FS2125 site 2 is refused: it says that it is site 0" in caplog.text


def test_a_number_that_nobody_planned_is_refused(simulation, federation):
    coordinator, folders, grid = federation
    _lie(simulation, folders[2], 2, id=77)
    roster = Roster(grid(), simulation, Register(coordinator))
    with pytest.raises(ProtocolError, match="says that it is site 77"):
        roster.wait_for(3, 0.1)


def test_counts_stay_those_of_the_first_introduction(simulation, federation):
    coordinator, folders, grid = federation
    Roster(grid(), simulation, Register(coordinator)).wait_for(3, 10)
    client = simulation.federation.clients[1]
    assert json.loads((coordinator / "enrolled/site-1.json").read_text()) == {
        "num_labeled": client.num_labeled,
        "num_unlabeled": client.num_unlabeled,
    }
    fewer = client.unlabeled_images[1:]
    _lie(simulation, folders[1], 1, unlabeled_images=fewer)
    again = Roster(grid(), simulation, Register(coordinator))
    with pytest.raises(ProtocolError, match=r"FS2127 site 1 .*remove '.*site-1\.json'"):
        again.wait_for(3, 0.1)
    (coordinator / "enrolled/site-1.json").unlink()
    Roster(grid(), simulation, Register(coordinator)).wait_for(3, 10)


def test_a_million_labels_are_refused_where_counts_were_agreed_on(federation):
    coordinator, folders, _ = federation
    agreed = {"num_labeled": 20, "num_unlabeled": 0}
    (coordinator / "enrolled/site-0.json").write_text(json.dumps(agreed))
    register = Register(coordinator)
    register.check(_key_of(folders[0]), ClientInfo(0, 20, 0))
    with pytest.raises(ProtocolError, match=r"FS2127 site 0 .*has 1000000 labeled"):
        register.check(_key_of(folders[0]), ClientInfo(0, 1_000_000, 0))


def test_a_key_that_was_taken_away_does_not_join(simulation, federation):
    coordinator, _, grid = federation
    (coordinator / "enrolled/site-1.pub").unlink()
    roster = Roster(grid(), simulation, Register(coordinator))
    with pytest.raises(ProtocolError, match="FS2126 a site is refused"):
        roster.wait_for(3, 0.1)
    assert [info.id for info in roster.infos()] == [0, 2]


def test_a_key_must_be_named_after_its_site(federation):
    coordinator, _, _ = federation
    (coordinator / "enrolled/site-1.pub").rename(coordinator / "enrolled/berlin.pub")
    with pytest.raises(ConfigError, match=r"FS5030 .*berlin\.pub.*name it site-N\.pub"):
        Register(coordinator)


def test_a_key_is_one_sites_only(federation):
    coordinator, _, _ = federation
    key = (coordinator / "enrolled/site-1.pub").read_bytes()
    (coordinator / "enrolled/site-2.pub").write_bytes(key)
    with pytest.raises(ConfigError, match=r"FS5030 .*holds the key of site 1"):
        Register(coordinator)


@pytest.mark.parametrize("content", [b"", b"no key", b"ssh-rsa AAAA", b"ssh-x AAAA"])
def test_a_file_that_is_no_key_is_named(federation, content):
    coordinator, _, _ = federation
    (coordinator / "enrolled/site-1.pub").write_bytes(content)
    with pytest.raises(ConfigError, match=r"FS5030 .*site-1\.pub' holds no public key"):
        Register(coordinator)


def test_damaged_counts_are_named(federation):
    coordinator, folders, _ = federation
    (coordinator / "enrolled/site-0.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"FS5033 .*site-0\.json' is damaged"):
        Register(coordinator).check(_key_of(folders[0]), ClientInfo(0, 1, 2))


def test_a_new_key_begins_with_the_counts_of_the_folder(simulation, federation):
    coordinator, folders, _ = federation
    fewer = simulation.federation.clients[1].unlabeled_images[1:]
    _lie(simulation, folders[1], 1, unlabeled_images=fewer)
    make_certificates(coordinator, folders, ["localhost"])
    found = json.loads((coordinator / "enrolled/site-1.json").read_text())
    assert found["num_unlabeled"] == len(fewer)


def test_the_first_claim_is_not_believed_where_a_folder_tells(simulation, federation):
    coordinator, folders, grid = federation
    more = simulation.federation.clients[1].unlabeled_images.repeat(2, 1, 1, 1)
    _lie(simulation, folders[1], 1, unlabeled_images=more)
    with pytest.raises(ProtocolError, match="FS2127 site 1"):
        Roster(grid(), simulation, Register(coordinator)).wait_for(3, 0.1)


def test_new_certificates_leave_a_key_enrolled_that_its_site_made(federation, tmp_path):
    """A certificate ends after thirty days; the sites' keys and counts do not."""
    coordinator, folders, _ = federation
    key, counts = (coordinator / f"enrolled/site-1.{end}" for end in ("pub", "json"))
    key.write_bytes(make_site_key(tmp_path / "elsewhere.key"))
    counts.write_text("{}")
    others = (coordinator / "enrolled/site-2.pub").read_bytes()
    make_certificates(coordinator, folders, ["localhost"])
    assert key.read_bytes() == (tmp_path / "elsewhere.pub").read_bytes()
    assert counts.exists()
    assert (coordinator / "enrolled/site-2.pub").read_bytes() != others


def test_a_site_that_repairs_its_number_may_join_when_it_is_back(
    simulation, federation
):
    coordinator, folders, grid = federation
    _lie(simulation, folders[2], 2, id=77)
    links = grid()
    roster = Roster(links, simulation, Register(coordinator))
    assert sorted(roster.online()) == [0, 1]
    _lie(simulation, folders[2], 2)
    assert sorted(roster.online()) == [0, 1]  # asked once, while it stays
    away = links._contexts.pop(3)
    roster.online()
    links._contexts[3] = away
    assert sorted(roster.online()) == [0, 1, 2]


def test_a_site_cannot_keep_the_others_waiting_with_introductions(
    simulation, federation
):
    coordinator, folders, grid = federation
    _lie(simulation, folders[2], 2, id=77)
    links = grid()
    roster = Roster(links, simulation, Register(coordinator))
    for _ in range(10):
        roster.online()
        away = links._contexts.pop(3)
        roster.online()
        links._contexts[3] = away
    assert len(roster.refusals) == 3
