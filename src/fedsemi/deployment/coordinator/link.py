"""The SuperLink as a program of ours: the app that Flower builds, behind our front.

python -m fedsemi.deployment.coordinator.link FOLDER HOST PORT
"""

from __future__ import annotations

import hmac
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from flwr.common.constant import (
    ACCESS_TOKEN_KEY,
    ISOLATION_MODE_PROCESS,
    TRANSPORT_TYPE_GRPC_RERE,
)
from flwr.supercore.auth.typing import AccountInfo
from flwr.supercore.http_logging import get_uvicorn_log_config
from flwr.supercore.logger import console_handler
from flwr.superlink.auth_plugin import NoOpControlAuthnPlugin
from flwr.superlink.cli.flower_superlink import SuperLinkLifespan
from flwr.superlink.config_loader import SuperLinkLifespanConfig
from flwr.superlink.main import create_app

from fedsemi.deployment.certificates import CA, SERVER, SERVER_KEY
from fedsemi.deployment.coordinator.door import Door
from fedsemi.deployment.coordinator.front import Front
from fedsemi.deployment.coordinator.guests import EnrolledGuests
from fedsemi.deployment.coordinator.waiting import Waiting

_END_SECONDS = 2


class OperatorOnly(NoOpControlAuthnPlugin):
    """Flower's own lock on its control routes, behind the front's: the same secret."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret.encode()

    def validate_tokens_in_metadata(
        self, metadata: Sequence[tuple[str, str | bytes]]
    ) -> tuple[bool, AccountInfo | None]:
        """Accept the operator alone."""
        shown = [str(value) for name, value in metadata if name == ACCESS_TOKEN_KEY]
        if len(shown) != 1 or not hmac.compare_digest(shown[0].encode(), self._secret):
            return False, None
        return super().validate_tokens_in_metadata(metadata)


class Server(uvicorn.Server):
    """A server that answers the questions which it holds before it ends."""

    def __init__(self, config: uvicorn.Config, waiting: Waiting) -> None:
        super().__init__(config)
        self._waiting = waiting

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; nobody is left without an answer."""
        await self._waiting.release()
        await super().shutdown(sockets)


def serve(folder: Path, home: Path, host: str, port: int) -> None:
    """Serve sites on the public port and the operator on the private one."""
    # Old gRPC ports of Flower that a variable would open beside ours.
    for name in [n for n in os.environ if n.startswith("FLWR_INTERNAL_")]:
        del os.environ[name]
    door, keys = Door.read(folder, home), folder.absolute() / "keys"
    addresses = ((host, port), ("127.0.0.1", door.port))
    sockets = [uvicorn.Config("", host=h, port=p).bind_socket() for h, p in addresses]
    flower = create_app(_settings(home, host, port, door, keys), SuperLinkLifespan)
    guests = EnrolledGuests(folder)
    front = Front(flower, guests, door.port, door.secret)
    config = uvicorn.Config(
        front,
        log_config=get_uvicorn_log_config(console_handler.level),
        ssl_certfile=keys / SERVER,
        ssl_keyfile=keys / SERVER_KEY,
        ws="none",
        # Who calls is who is connected; a header could name anybody.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_END_SECONDS,
    )
    Server(config, front.waiting).run(sockets)


def _settings(
    home: Path, host: str, port: int, door: Door, keys: Path
) -> SuperLinkLifespanConfig:
    paths = [keys / name for name in (CA, SERVER, SERVER_KEY)]
    ca, certificate, key = (path.read_bytes() for path in paths)
    return SuperLinkLifespanConfig(
        control_address="",
        health_server_address=None,
        host=host,
        port=port,
        insecure=False,
        certificates=(ca, certificate, key),
        superexec_auth_secret=None,
        authn_plugin=OperatorOnly(door.secret),
        event_log_plugin=None,
        fleet_event_log_plugin=None,
        enable_event_log=False,
        artifact_provider=None,
        enable_supernode_auth=True,
        fleet_api_type=TRANSPORT_TYPE_GRPC_RERE,
        fleet_api_address=None,
        simulation=False,
        ssl_ca_certfile=str(paths[0]),
        ssl_certfile=str(paths[1]),
        ssl_keyfile=str(paths[2]),
        database=str(home / "state.db"),
        # Flower starts no program for a task: the conductor takes them.
        isolation=ISOLATION_MODE_PROCESS,
        runtime_dependency_install=False,
    )


if __name__ == "__main__":
    _folder = Path(sys.argv[1])
    serve(_folder, Path(os.environ["FLWR_HOME"]), sys.argv[2], int(sys.argv[3]))
