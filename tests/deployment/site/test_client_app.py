"""What a site says of its errors: others learn no name of a file or folder."""

from __future__ import annotations

import logging

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.data.site import Site, write_site
from fedsemi.deployment.bundle import make_bundle
from fedsemi.deployment.site import warm_node
from fedsemi.deployment.site.client_app import leaving
from fedsemi.deployment.site.ledger import LEDGER
from fedsemi.deployment.site.standing import STANDING
from fedsemi.errors import (
    CannotCreate,
    ClientFailed,
    ConfigError,
    DataError,
    ProtocolError,
    RunInUse,
    StorageError,
)

from ..attacker import asked, order, refusal
from ..conftest import tiny

OWNER = "st-marys-hospital"


@pytest.fixture(scope="module")
def honest():
    return tiny(local={"batch_size": 2})


@pytest.fixture
def folder(tmp_path, honest):
    client = honest.federation.clients[0]
    return write_site(tmp_path / OWNER, Site(client, honest.class_names))


def test_a_damaged_ledger_does_not_tell_where_it_lies(honest, folder, caplog):
    (folder / LEDGER).write_text("{}\n")
    fair = order(honest, honest.initial_weights(), client=0)
    with caplog.at_level(logging.WARNING):
        told = refusal(asked(honest, folder, fair))
    assert told == "FS6104 StorageError at the site; see its log"
    assert f"{OWNER}/{LEDGER}' is damaged" in caplog.text


def test_what_is_wrong_before_the_app_answers_tells_no_path_either(honest, folder):
    (folder / STANDING).write_text("{")
    home = folder / "flower"
    home.mkdir()
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    config = {"plan": honest.as_json(), "ticket": "a"}
    context = Context(1, 1, {"data": str(folder)}, RecordDict(), config)
    query = Message(RecordDict({"query": ConfigRecord({"v": 1})}), 1, "query")
    told = warm_node.answer(query, context, make_bundle(), home).content["failure"]
    assert told["reason"] == "FS5045 ConfigError at the site; see its log"
    assert OWNER in (home / "refused.log").read_text()


@pytest.mark.parametrize(
    "error",
    [
        StorageError(f"cannot write '/{OWNER}/noise.secret'", code="FS1201"),
        ConfigError(f"'/{OWNER}/peers/site-1.pub' is no key", code="FS6013"),
        ConfigError(f"'/{OWNER}/keys/site.key' holds no key", code="FS5026"),
        ConfigError(f"'/{OWNER}/site-policy.toml' is damaged", code="FS6100"),
        ConfigError(f"no encoder in '/{OWNER}/encoders'", code="FS4190"),
        DataError(f"'/{OWNER}/scan.png' cannot be read"),
        CannotCreate(f"'/{OWNER}/memory' is a file"),
        RunInUse(f"'/{OWNER}' is in use"),
        ClientFailed(0, 0, f"'/{OWNER}/features' is gone"),
    ],
    ids=lambda error: error.code,
)
def test_of_an_error_of_the_sites_own_its_code_leaves_and_no_path(error):
    assert leaving(error).startswith(f"{error.code} ")
    assert OWNER not in leaving(error)


def test_what_is_written_for_the_other_side_is_told():
    error = ProtocolError("round 2 of stage 1 is not in the plan", code="FS2133")
    assert leaving(error) == str(error)
