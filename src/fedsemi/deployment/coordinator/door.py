"""The operator's door: a SuperLink's private port, and the secret that opens it."""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx
from flwr.common.serde import fab_to_proto, user_config_to_proto
from flwr.proto.control_pb2 import RegisterNodeRequest, StartRunRequest
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.fab import Fab
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor
from flwr.supercore.protobuf.client import ProtobufCall, ProtobufRequestContext
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.superlink.grid import HttpGrid

from fedsemi.deployment.certificates import CA
from fedsemi.deployment.coordinator.waiting import HOLD, NEWS
from fedsemi.errors import FedSemiError
from fedsemi.storage import write_whole

SECRET = "operator.json"

C = TypeVar("C", ControlHttpClient, RuntimeHttpClient)


class Credential:
    """Shows the operator's secret with each request."""

    def __init__(self, secret: str) -> None:
        self._header = f"Bearer {secret}"

    def intercept(
        self, context: ProtobufRequestContext, call_next: ProtobufCall
    ) -> httpx.Response:
        """Add the header that the front asks for."""
        context.request.headers["authorization"] = self._header
        return call_next(context)


class OperatorGrid(HttpGrid):
    """A grid whose requests show the operator's secret."""

    def __init__(self, door: Door, token: str) -> None:
        super().__init__(door.address, False, door.ca.read_bytes(), token=token)
        self._credential = Credential(door.secret)
        self._line = httpx.Client(
            base_url=f"https://{door.address}",
            headers={"authorization": f"Bearer {door.secret}"},
            verify=ssl.create_default_context(cafile=door.ca),
            timeout=2 * HOLD,
        )
        self._sent = 0
        """What sites have sent so far, as the front counts it."""

    def await_news(self, seconds: float) -> None:
        """Wait until a site has sent something, for so long at most."""
        asked = {"sent": self._sent, "seconds": seconds}
        answer = self._line.post(NEWS, json=asked).raise_for_status()
        self._sent = int(answer.json()["sent"])

    def close(self) -> None:
        """Hang up."""
        self._line.close()
        super().close()

    @property
    def runtime(self) -> RuntimeHttpClient:
        """The client of the routes for running apps."""
        return self._runtime_client

    def give_up_soon(self) -> None:
        """Try each request once from now on, since the SuperLink may be gone."""
        self._retry_invoker.max_tries = 1

    def _connect(self) -> None:
        super()._connect()
        assert self._client is not None
        self._client._interceptors += (self._credential,)


@dataclass(frozen=True)
class Door:
    """Where the private port of a SuperLink is, and what opens it."""

    port: int
    secret: str
    ca: Path

    @classmethod
    def make(cls, folder: Path, home: Path, port: int) -> Door:
        """Draw a new secret, which only this user of this machine can read."""
        secret = secrets.token_urlsafe(32)
        content = json.dumps({"port": port, "secret": secret})
        write_whole(home / SECRET, content.encode(), private=True)
        return cls.read(folder, home)

    @classmethod
    def read(cls, folder: Path, home: Path) -> Door:
        """Find the door of a SuperLink that is running."""
        found = json.loads((home / SECRET).read_text("utf-8"))
        ca = folder.absolute() / "keys" / CA
        return cls(found["port"], found["secret"], ca)

    @property
    def address(self) -> str:
        """Where to knock."""
        return f"127.0.0.1:{self.port}"

    def enroll(self, public_key: bytes) -> None:
        """Let a site in; one that is enrolled stays so."""
        with self._control() as control:
            try:
                control.RegisterNode(RegisterNodeRequest(public_key=public_key))
            except httpx.HTTPStatusError as error:
                # A coordinator that starts again finds its sites enrolled.
                if "already in use" not in error.response.text:
                    raise

    def start_run(self, bundle: bytes, config: dict[str, str]) -> int:
        """Start a run and return its number."""
        fab = fab_to_proto(Fab("", bundle, {}))
        settings = user_config_to_proto(dict(config))
        with self._control() as control:
            wanted = StartRunRequest(fab=fab, override_config=settings)
            return int(control.StartRun(wanted).run_id)

    def tasks(self) -> RuntimeHttpClient:
        """Open the routes for running apps."""
        return self._open(RuntimeHttpClient)

    @contextmanager
    def _control(self) -> Iterator[ControlHttpClient]:
        client = self._open(ControlHttpClient)
        try:
            yield client
        except httpx.HTTPError as error:
            raise FedSemiError(
                f"the SuperLink does not do what its operator asks: {error}",
                code="FS5003",
            ) from None
        finally:
            client.close()

    def _open(self, kind: type[C]) -> C:
        return kind.from_server_address(
            self.address,
            insecure=False,
            root_certificates=self.ca.read_bytes(),
            interceptors=[
                RuntimeVersionHttpInterceptor(component_name="fedsemi"),
                Credential(self.secret),
            ],
        )
