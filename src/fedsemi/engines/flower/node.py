"""A site's side of a deployment: a SuperNode that works in the site's folder."""

from __future__ import annotations

import json
import math
import socket
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedsemi.data.site import read_site
from fedsemi.engines.flower import processes
from fedsemi.engines.flower.certificates import CA, SITE_KEY
from fedsemi.errors import ConfigError, ProtocolError

_CONNECT_SECONDS = 10
# A coordinator that starts or stops may hang up in the middle of the handshake.
_BROKEN_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


@dataclass(frozen=True)
class Node:
    """Where a site's data and key lie, and which coordinator it works for."""

    folder: Path
    server: str
    key: Path | None = None
    device: str | None = None

    def work(self, patience: float = 120.0) -> None:
        """Work until stopped; a coordinator that is not ready yet is waited for.

        Raises:
            ProtocolError: The coordinator does not know this site's key, or its
                certificate is not one that this site trusts.
        """
        end = math.inf
        while True:
            while not self.trusts_coordinator():
                time.sleep(2)
            started = time.monotonic()
            process = self.start()
            try:
                process.wait()
            finally:
                processes.stop(process)
            now = time.monotonic()
            if end == math.inf or now - started > patience:
                end = now + patience  # the first refusal, or the first after work
            elif now > end:
                raise ProtocolError(
                    f"{self.server} refused this site: its key is not enrolled, or "
                    f"the link broke; see {self.folder / 'flower'}",
                    code="FS5101",
                )
            time.sleep(2)

    def trusts_coordinator(self) -> bool:
        """Look at the coordinator's certificate; False if nobody answers yet.

        A SuperNode that does not trust its coordinator says so in its log only.
        """
        host, _, port = self.server.rpartition(":")
        if not host or not port.isdigit():
            raise ConfigError(
                f"'{self.server}' is not host:port; give --server as "
                "fl.example.org:9092",
                code="FS5009",
            )
        context = ssl.create_default_context(cafile=self._found("ca"))
        try:
            address = host.strip("[]"), int(port)
            with socket.create_connection(address, _CONNECT_SECONDS) as plain:
                context.wrap_socket(plain, server_hostname=address[0]).close()
        except _BROKEN_OFF:
            return False
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", None) or error.reason
            raise ProtocolError(
                f"{self.server} cannot be trusted: {reason}; is "
                f"{self._found('ca')} from this coordinator?",
                code="FS5102",
            ) from None
        except OSError:
            return False
        return True

    def start(self) -> subprocess.Popen[bytes]:
        """Check the folder, then connect; returns the running SuperNode."""
        read_site(self.folder)
        return processes.start("flower-supernode", self.command(), self._home)

    def command(self) -> list[str]:
        """Put together the command that `start` runs."""
        settings = {"data": str(self.folder.absolute())}
        if self.device:
            settings["device"] = self.device
        return [
            sys.executable,
            "-m",
            "fedsemi.engines.flower.warm_node",
            str(self._home),
            str(processes.free_port()),
            f"--superlink={self.server}",
            f"--root-certificates={self._found('ca')}",
            f"--auth-supernode-private-key={self._found('key')}",
            "--node-config",
            " ".join(f"{name}={json.dumps(v)}" for name, v in settings.items()),
        ]

    @property
    def _home(self) -> Path:
        return self.folder.absolute() / "flower"

    def _found(self, what: Literal["ca", "key"]) -> Path:
        keys = self.folder.absolute() / "keys"
        path = keys / CA if what == "ca" else self.key or keys / SITE_KEY
        if not path.exists():
            raise ConfigError(
                f"'{path}' is missing; make it with `fedsemi certificates`",
                code="FS5005",
            )
        return path
