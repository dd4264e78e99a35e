"""Parts of Flower that it does not promise to keep, and that have moved before.

A new release of Flower is tried by running this file: each failure names what is gone
and who needs it.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("flwr")

import fedsemi.deployment
from fedsemi.deployment.coordinator.front import FLEET, OPERATOR

_PACKAGE = Path(fedsemi.deployment.__file__).parent
_PUBLIC = {
    "flwr.app",
    "flwr.clientapp",
    "flwr.serverapp",
    "flwr.serverapp.strategy",
    "flwr.simulation",
}
INTERNALS = {
    "flwr.common.constant": {
        "ACCESS_TOKEN_KEY",
        "ISOLATION_MODE_PROCESS",
        "SYSTEM_TIME_TOLERANCE",
        "SubStatus",
        "TIMESTAMP_HEADER",
        "TIMESTAMP_TOLERANCE",
        "TRANSPORT_TYPE_GRPC_RERE",
    },
    "flwr.common.serde": {"fab_to_proto", "run_from_proto", "user_config_to_proto"},
    "flwr.proto.control_pb2": {"RegisterNodeRequest", "StartRunRequest"},
    "flwr.proto.message_pb2": {"ConfirmMessageReceivedRequest", "PullObjectRequest"},
    "flwr.proto.runtime_pb2": {
        "AcquireTaskRequest",
        "PullAppMessagesRequest",
        "PullTaskInputRequest",
        "PullTaskInputResponse",
        "PushTaskOutputRequest",
    },
    "flwr.supercore.app_utils": {"start_parent_process_monitor"},
    "flwr.supercore.auth.typing": {"AccountInfo"},
    "flwr.supercore.constant": {
        "FLEET_HTTP_PUBLIC_KEY_HEADER",
        "FLEET_HTTP_SIGNATURE_HEADER",
        "TaskType",
    },
    "flwr.supercore.control": {"ControlHttpClient"},
    "flwr.supercore.fab": {"Fab"},
    "flwr.supercore.heartbeat": {"HeartbeatSender", "make_task_heartbeat_fn_http"},
    "flwr.supercore.http_logging": {"get_uvicorn_log_config"},
    "flwr.supercore.inflatable.inflatable_object": {
        "get_object_body",
        "get_object_head_values_from_object_content",
        "iterate_object_tree",
    },
    "flwr.supercore.inflatable.inflatable_utils": {"inflate_object_from_contents"},
    "flwr.supercore.interceptors": {
        "RuntimeTokenHttpInterceptor",
        "RuntimeVersionHttpInterceptor",
        "SuperExecAuthHttpInterceptor",
    },
    "flwr.supercore.logger": {"console_handler"},
    "flwr.supercore.primitives.asymmetric": {"public_key_to_bytes"},
    "flwr.supercore.protobuf.client": {"ProtobufCall", "ProtobufRequestContext"},
    "flwr.supercore.retry": {"RetryInvoker", "make_simple_http_retry_invoker"},
    "flwr.supercore.run": {"Run"},
    "flwr.supercore.runtime": {"RuntimeHttpClient"},
    "flwr.supercore.task_identity": {"TaskIdentity"},
    "flwr.superlink.auth_plugin": {"NoOpControlAuthnPlugin"},
    "flwr.superlink.cli.flower_superlink": {"SuperLinkLifespan"},
    "flwr.superlink.config_loader": {"SuperLinkLifespanConfig"},
    "flwr.superlink.grid": {"HttpGrid"},
    "flwr.superlink.grid.http_grid": {"HttpGrid"},
    "flwr.superlink.main": {"create_app"},
    "flwr.supernode.runtime.run_clientapp": {
        "pull_task_input",
        "push_message",
        "push_task_output",
    },
}
ATTRIBUTES = {
    ("flwr.superlink.grid", "HttpGrid"): {"_connect", "_runtime_client"},
    ("flwr.supercore.runtime", "RuntimeHttpClient"): {
        "from_server_address",
        "close",
        "AcquireTask",
        "PullTaskInput",
        "PushTaskOutput",
    },
    ("flwr.supercore.control", "ControlHttpClient"): {"RegisterNode", "StartRun"},
    ("flwr.supercore.heartbeat", "HeartbeatSender"): {"start", "stop", "is_running"},
    ("flwr.superlink.auth_plugin", "NoOpControlAuthnPlugin"): {
        "validate_tokens_in_metadata"
    },
}


def _imported() -> Iterator[tuple[str, str, str]]:
    """List what our modules import from Flower: module, name, who does."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("flwr"):
                for alias in node.names:
                    yield str(node.module), alias.name, path.name


def test_the_list_of_internals_is_complete():
    found: dict[str, set[str]] = {}
    for module, name, _ in _imported():
        if module not in _PUBLIC:
            found.setdefault(module, set()).add(name)
    assert found == INTERNALS


@pytest.mark.parametrize("module", sorted(INTERNALS))
def test_flower_still_has_what_we_import(module):
    users = {name: who for of, name, who in _imported() if of == module}
    try:
        there = importlib.import_module(module)
    except ImportError as error:
        pytest.fail(f"Flower has no {module} any more, used by {users}: {error}")
    gone = {
        f"{n} (used by {users[n]})" for n in INTERNALS[module] if not hasattr(there, n)
    }
    assert not gone, f"Flower's {module} has lost: {', '.join(sorted(gone))}"


@pytest.mark.parametrize("owner", sorted(ATTRIBUTES))
def test_flower_still_has_the_attributes_that_we_use(owner):
    module, name = owner
    there = getattr(importlib.import_module(module), name)
    gone = {each for each in ATTRIBUTES[owner] if not hasattr(there, each)}
    assert not gone, f"Flower's {module}.{name} has lost: {', '.join(sorted(gone))}"


def test_a_grid_still_opens_its_client_in_the_way_that_we_extend():
    """`OperatorGrid` adds the secret to the interceptors of the client."""
    from flwr.superlink.grid import HttpGrid

    grid = HttpGrid("127.0.0.1:1", insecure=True, token="x")
    grid._connect()
    assert isinstance(grid._client._interceptors, tuple)
    assert hasattr(grid._retry_invoker, "max_tries")
    grid.close()


def test_the_settings_of_a_superlink_are_those_that_we_give():
    from flwr.superlink.config_loader import SuperLinkLifespanConfig

    given = ast.parse((_PACKAGE / "coordinator" / "link.py").read_text("utf-8"))
    names = {
        word.arg
        for node in ast.walk(given)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "SuperLinkLifespanConfig"
        for word in node.keywords
    }
    assert names == {
        field.name for field in dataclasses.fields(SuperLinkLifespanConfig)
    }


def test_the_routes_that_we_pass_are_routes_of_flower():
    from flwr.supercore.routers.runtime.router import router as runtime
    from flwr.superlink.routers.control import router as control
    from flwr.superlink.routers.fleet.router import router as fleet

    assert {route.path for route in runtime.routes + control.routes} >= OPERATOR
    # With keys, sites are registered by the coordinator, not by themselves.
    own = {"/v1/fleet/register-node", "/v1/fleet/unregister-node"}
    assert {route.path for route in fleet.routes} == FLEET | own


def test_a_supernode_leaves_its_tasks_to_us_and_asks_for_our_secret():
    from flwr.supernode.cli import flower_supernode

    source = inspect.getsource(inspect.getmodule(flower_supernode))
    assert '"--isolation"' in source
    assert "add_superexec_auth_secret_args" in source
