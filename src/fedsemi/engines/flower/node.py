"""A site's side of a deployment: a SuperNode that works in the site's folder."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fedsemi.data.site import read_site
from fedsemi.engines.flower import processes
from fedsemi.engines.flower.certificates import CA, SITE_KEY
from fedsemi.errors import ConfigError, ProtocolError


@dataclass(frozen=True)
class Node:
    """Where a site's data and key lie, and which coordinator it works for."""

    folder: Path
    server: str
    key: Path | None = None
    device: str | None = None

    def work(self, patience: float = 120.0) -> None:
        """Work until stopped; a coordinator that is not ready yet is tried again.

        Raises:
            ProtocolError: The coordinator does not know this site's key.
        """
        end = math.inf
        while True:
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

    def start(self) -> subprocess.Popen[bytes]:
        """Check the folder, then connect; returns the running SuperNode."""
        folder = self.folder.absolute()
        read_site(folder)
        key, ca = self.key or folder / "keys" / SITE_KEY, folder / "keys" / CA
        for path in (key, ca):
            if not path.exists():
                raise ConfigError(
                    f"'{path}' is missing; make it with `fedsemi certificates`",
                    code="FS5005",
                )
        settings = {"data": str(folder)}
        if self.device:
            settings["device"] = self.device
        home = folder / "flower"
        return processes.start(
            "flower-supernode",
            [
                sys.executable,
                "-m",
                "fedsemi.engines.flower.warm_node",
                str(home),
                str(processes.free_port()),
                f"--superlink={self.server}",
                f"--root-certificates={ca}",
                f"--auth-supernode-private-key={key}",
                "--node-config",
                " ".join(f"{name}={json.dumps(v)}" for name, v in settings.items()),
            ],
            home,
        )
