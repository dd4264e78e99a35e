"""Every field that leaves a site is noted before it does, with its hash."""

from __future__ import annotations

import hashlib
import stat

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.client.wire import expected_fields, fields_of
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.bundle import make_bundle
from fedsemi.deployment.codec import decode_update, encode_order
from fedsemi.deployment.site import egress, warm_node
from fedsemi.deployment.site.egress import EGRESS, read_log
from fedsemi.errors import StorageError
from fedsemi.weights import digest

from ..attacker import order
from ..conftest import tiny


@pytest.fixture(scope="module")
def simulation():
    return tiny(local={"batch_size": 2})


@pytest.fixture
def folder(tmp_path, simulation):
    """The folder of an unlabeled site."""
    client = simulation.federation.clients[1]
    return write_site(tmp_path / "site-1", Site(client, simulation.class_names))


def answered(simulation, folder, content, kind):
    """Let the process of a real site answer a message."""
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    config = {"plan": simulation.as_json(), "ticket": "a"}
    context = Context(1, 1, {"data": str(folder)}, RecordDict(), config)
    home = folder / "flower"
    home.mkdir(exist_ok=True)
    message = Message(content, 1, kind)
    return warm_node.answer(message, context, make_bundle(), home).content


def trained(simulation, folder):
    fair = order(simulation, simulation.initial_weights(), client=1)
    return answered(simulation, folder, encode_order(fair), "train")


def test_an_answer_is_noted_field_by_field(simulation, folder):
    update = decode_update(trained(simulation, folder))
    noted = {line["field"]: line for line in read_log(folder)}
    sizes = {name: line["bytes"] for name, line in noted.items()}
    assert sizes == {field.name: field.num_bytes for field in fields_of(update)}
    assert noted["weights"]["sha256"] == digest(update.weights)
    number = hashlib.sha256(str(update.num_unlabeled).encode()).hexdigest()
    assert noted["num_unlabeled"]["sha256"] == number
    assert {(each["stage"], each["round"]) for each in noted.values()} == {(1, 1)}
    assert {each["plan"] for each in noted.values()} == {simulation.sha256[:12]}
    assert stat.S_IMODE((folder / EGRESS).stat().st_mode) == 0o600


def test_introductions_and_refusals_are_noted_too(simulation, folder):
    query = RecordDict({"query": ConfigRecord({"v": 1})})
    answered(simulation, folder, query, "query")
    introduced = {line["field"] for line in read_log(folder)}
    assert {"introduction.num_unlabeled", "introduction.policy_sha256"} <= introduced
    (folder / "site-policy.toml").write_text("[answers]\nmethods = []")
    reason = trained(simulation, folder)["failure"]["reason"]
    line = read_log(folder)[-1]
    assert (line["field"], line["bytes"]) == ("failure.reason", len(reason))


def test_what_cannot_be_noted_is_not_sent(simulation, folder, monkeypatch):
    def full(*_):
        raise StorageError("the disk is full", "FS1201")

    monkeypatch.setattr(egress.journal, "opened", full)
    content = trained(simulation, folder)
    assert set(content) == {"failure"}
    assert content["failure"]["reason"] == "FS6105 the site cannot note what it sends"
    assert "the disk is full" in (folder / "flower" / "refused.log").read_text()


@pytest.mark.parametrize("number", [0, 1])
def test_what_leaves_was_foretold_with_its_size(simulation, number):
    """Metrics are those that a method may send; an answer may lack some."""
    for stage in simulation.experiment.stages:
        method, client = simulation.method(stage), simulation.federation.clients[number]
        state = method.init(simulation.initial_weights(), [client.info])
        update, _ = method.train(state.task(client.info, **_told(method)), client, {})
        foretold = {
            field.name: (field.kind, field.num_bytes)
            for field in expected_fields(method, state.whole, 3, holds_out=False)
        }
        for field in fields_of(update):
            assert foretold[field.name] == (field.kind, field.num_bytes)


def _told(method):
    return dict(getattr(method, "broadcast", dict)())
