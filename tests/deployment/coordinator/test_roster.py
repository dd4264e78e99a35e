from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

pytest.importorskip("flwr")

from fedsemi.config.setting import CardSettings
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.introduction import check_introduction, introduction_of
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.errors import DataError, ProtocolError
from fedsemi.messages import ClientInfo

_INFO = ClientInfo(2, 3, 4)


def _grid(simulation, folder, num_nodes=3):
    for client in simulation.federation.clients:
        write_site(folder / f"site-{client.id}", Site(client, simulation.class_names))
    app = client_app(partial(simulated_desk, simulation.as_json(), folder))
    return LoopbackGrid(app, num_nodes)


def test_sites_join_with_their_counts(simulation, tmp_path):
    roster = Roster(_grid(simulation, tmp_path), simulation)
    roster.wait_for(3, 10)
    assert roster.infos() == [c.info for c in simulation.federation.clients]


def test_sites_with_other_labels_than_the_card_says_end_the_wait(simulation, tmp_path):
    # One site of three has labels, as under LC; few labels everywhere were announced.
    few = CardSettings(card="LAC")
    plan = simulation.experiment.model_copy(update={"setting": few})
    announced = replace(simulation, experiment=plan)
    roster = Roster(_grid(announced, tmp_path), announced)
    with pytest.raises(DataError, match=r"FS4501 .* LAC .* client \d has no labels"):
        roster.wait_for(3, 10)


def test_a_site_with_another_class_list_is_refused_by_name(simulation, tmp_path):
    grid = _grid(simulation, tmp_path)
    about = tmp_path / "site-1" / "site.json"
    content = json.loads(about.read_text())
    content["class_names"].reverse()
    about.write_text(json.dumps(content))
    roster = Roster(grid, simulation)
    with pytest.raises(
        ProtocolError, match=r"2 of 3 .*site 1 is refused: its class_na"
    ):
        roster.wait_for(3, 0.1)


def test_two_sites_with_one_id_are_refused(simulation, tmp_path):
    grid = _grid(simulation, tmp_path)
    client = replace(simulation.federation.clients[1], id=0)
    write_site(tmp_path / "site-1", Site(client, simulation.class_names))
    with pytest.raises(ProtocolError, match="FS2113 site 0"):
        Roster(grid, simulation).wait_for(3, 0.1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("anchor_sha256", ["", "0" * 64]),
        ("model_sha256", "0" * 64),
        ("plan_sha256", "0" * 64),
        ("fedsemi", "0.0.1"),
        ("class_names", ["cat", "dog"]),
    ],
)
def test_a_site_that_does_not_fit_is_refused_by_name(simulation, field, value):
    honest = introduction_of(simulation, _INFO, simulation.class_names)
    assert check_introduction(simulation, honest) == _INFO
    with pytest.raises(ProtocolError, match=f"FS2115 site 2 is refused: its {field}"):
        check_introduction(simulation, replace(honest, **{field: value}))


def test_what_a_site_calls_its_release_is_not_printed_raw(simulation):
    honest = introduction_of(simulation, _INFO, simulation.class_names)
    forged = "1\nsite 9 joined\x1b[2J"
    with pytest.raises(ProtocolError) as raised:
        check_introduction(simulation, replace(honest, fedsemi=forged, torch=forged))
    assert str(raised.value).isprintable()
    assert str(raised.value).count("1\\nsite 9 joined\\x1b[2J") == 2


def test_negative_counts_are_refused(simulation):
    strange = introduction_of(simulation, ClientInfo(2, -1, 4), simulation.class_names)
    with pytest.raises(ProtocolError, match="FS2104"):
        check_introduction(simulation, strange)
