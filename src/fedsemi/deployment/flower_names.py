"""Every name of Flower that it does not promise to keep and that we use: one table.

Flower moves such names between releases. `check_flower` compares the table with what is
installed before a deployment starts anything; the tests compare it with our imports.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version

from fedsemi.errors import ConfigError

TRIED = ("1.41.0",)
"""Releases of Flower with which the tests of a deployment have passed."""

PUBLIC = frozenset(
    {
        "flwr.app",
        "flwr.clientapp",
        "flwr.serverapp",
        "flwr.serverapp.strategy",
        "flwr.simulation",
    }
)
"""What Flower documents; all else is in the table."""

Wanted = Mapping[str, tuple[str, ...]]
"""A name, and the parameters by which we call it; empty if it is not called."""

NAMES: Mapping[str, Wanted] = {
    "flwr.app.message": {"remove_content_from_message": ("message",)},
    "flwr.common.constant": {
        "ACCESS_TOKEN_KEY": (),
        "ErrorCode.CLIENT_APP_CRASHED": (),
        "ISOLATION_MODE_PROCESS": (),
        "SYSTEM_TIME_TOLERANCE": (),
        "SubStatus.COMPLETED": (),
        "SubStatus.FAILED": (),
        "TIMESTAMP_HEADER": (),
        "TIMESTAMP_TOLERANCE": (),
        "TRANSPORT_TYPE_GRPC_RERE": (),
    },
    "flwr.common.serde": {
        "fab_to_proto": ("fab",),
        "message_from_proto": ("message_proto",),
        "message_to_proto": ("message",),
        "recorddict_from_proto": ("recorddict_proto",),
        "recorddict_to_proto": ("recorddict",),
        "run_from_proto": ("run_proto",),
        "user_config_to_proto": ("user_config",),
    },
    "flwr.proto.control_pb2": {"RegisterNodeRequest": (), "StartRunRequest": ()},
    "flwr.proto.fleet_pb2": {"PullMessagesRequest": ()},
    "flwr.proto.message_pb2": {
        "ConfirmMessageReceivedRequest": (),
        "Message": (),
        "ObjectTree": (),
        "PullObjectRequest": (),
    },
    "flwr.proto.node_pb2": {"NodeInfo": ()},
    "flwr.proto.recorddict_pb2": {"RecordDict": ()},
    "flwr.proto.runtime_pb2": {
        "AcquireTaskRequest": (),
        "PullAppMessagesRequest": (),
        "PullTaskInputRequest": (),
        "PullTaskInputResponse": (),
        "PushAppMessagesRequest": (),
        "PushTaskOutputRequest": (),
    },
    "flwr.supercore.auth.typing": {"AccountInfo": ()},
    "flwr.supercore.constant": {
        "FLEET_HTTP_PUBLIC_KEY_HEADER": (),
        "FLEET_HTTP_SIGNATURE_HEADER": (),
        "TaskType.AGENT_APP": (),
        "TaskType.SERVER_APP": (),
        "TaskType.SIMULATION": (),
    },
    "flwr.supercore.control": {
        "ControlHttpClient.RegisterNode": ("request",),
        "ControlHttpClient.StartRun": ("request",),
        "ControlHttpClient.from_server_address": (
            "server_address",
            "insecure",
            "root_certificates",
            "interceptors",
        ),
    },
    "flwr.supercore.fab": {"Fab": ("hash_str", "content", "verifications")},
    "flwr.supercore.heartbeat": {
        "HeartbeatSender": ("heartbeat_fn",),
        "HeartbeatSender.is_running": (),
        "HeartbeatSender.start": (),
        "HeartbeatSender.stop": (),
        "make_task_heartbeat_fn_http": ("client",),
    },
    "flwr.supercore.http_logging": {"get_uvicorn_log_config": ("log_level",)},
    "flwr.supercore.inflatable.inflatable_object": {
        "get_all_nested_objects": ("obj",),
        "get_object_body": ("object_content", "cls"),
        "get_object_head_values_from_object_content": ("object_content",),
        "get_object_tree": ("obj",),
        "iterate_object_tree": ("tree",),
        "no_object_id_recompute": (),
    },
    "flwr.supercore.inflatable.inflatable_utils": {
        "inflate_object_from_contents": ("object_id", "object_contents"),
        "pull_objects": ("object_ids", "pull_object_fn", "initial_backoff"),
        "push_object_contents_from_iterable": ("object_contents", "push_object_fn"),
    },
    "flwr.supercore.interceptors": {
        "RuntimeVersionHttpInterceptor": ("component_name",)
    },
    "flwr.supercore.logger": {"console_handler": ()},
    "flwr.supercore.primitives.asymmetric": {"public_key_to_bytes": ("public_key",)},
    "flwr.supercore.protobuf.client": {
        "ProtobufCall": (),
        "ProtobufRequestContext": ("rpc_method", "message", "request"),
    },
    "flwr.supercore.run": {"Run": (), "RunNotRunningException": ()},
    "flwr.supercore.runtime": {
        "RuntimeHttpClient.AcquireTask": ("request",),
        "RuntimeHttpClient.ConfirmMessageReceived": ("request",),
        "RuntimeHttpClient.PullMessages": ("request",),
        "RuntimeHttpClient.PullObject": ("request",),
        "RuntimeHttpClient.PullTaskInput": ("request",),
        "RuntimeHttpClient.PushTaskOutput": ("request",),
        "RuntimeHttpClient.close": (),
        "RuntimeHttpClient.from_server_address": (
            "server_address",
            "insecure",
            "root_certificates",
            "interceptors",
        ),
    },
    "flwr.supercore.task_identity": {
        "TaskIdentity.node_id": (),
        "TaskIdentity.run_id": (),
        "TaskIdentity.task_id": (),
    },
    "flwr.superlink.auth_plugin": {
        "NoOpControlAuthnPlugin.validate_tokens_in_metadata": ("metadata",)
    },
    "flwr.superlink.cli.flower_superlink": {"SuperLinkLifespan": ()},
    "flwr.superlink.config_loader": {"SuperLinkLifespanConfig": ("database",)},
    "flwr.superlink.grid": {
        "HttpGrid": ("runtime_api_address", "insecure", "root_certificates", "token"),
        "HttpGrid._connect": (),
        "HttpGrid._runtime_client": (),
        "HttpGrid.get_nodes": (),
    },
    "flwr.superlink.grid.http_grid": {"HttpGrid": ()},
    "flwr.superlink.main": {"create_app": ()},
    "flwr.supernode.fleet_http_connection": {
        "http_request_response": (
            "server_address",
            "insecure",
            "root_certificates",
            "authentication_keys",
        )
    },
}


def changed() -> Iterator[str]:
    """Say what the installed Flower lacks of the table, or calls otherwise."""
    for module, wanted in NAMES.items():
        try:
            there = importlib.import_module(module)
        except ImportError:
            yield f"{module} is gone"
            continue
        for path, parameters in wanted.items():
            found = _found(there, path)
            if found is None:
                yield f"{module}.{path} is gone"
            elif parameters and (lost := set(parameters) - _parameters(found)):
                yield f"{module}.{path} takes no {', '.join(sorted(lost))}"


def check_flower() -> None:
    """Refuse a Flower that has moved what a deployment is built on."""
    try:
        installed = version("flwr")
    except PackageNotFoundError:
        raise missing_flower() from None
    if installed in TRIED:
        return
    if different := list(changed()):
        more = f" and {len(different) - 1} more" if len(different) > 1 else ""
        raise ConfigError(
            f"Flower {installed} is not the one that fedsemi was tried with "
            f"({', '.join(TRIED)}): {different[0]}{more}; install that one with: pip "
            "install 'fedsemi[flower]', or train without it: fedsemi run",
            code="FS5040",
        )


def missing_flower() -> ConfigError:
    """Name the extra that Flower comes with."""
    return ConfigError(
        "this needs Flower; install it with: pip install 'fedsemi[flower]'",
        code="FS5004",
    )


def _found(there: object, path: str) -> object:
    """Follow a dotted name; None if there is none."""
    for name in path.split("."):
        if inspect.getattr_static(there, name, None) is None:
            return None
        try:
            there = getattr(there, name)
        except RuntimeError:  # it is there, and cannot be read before it is set
            return name
    return there


def _parameters(found: object) -> set[str]:
    try:
        return set(inspect.signature(found).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return set()
