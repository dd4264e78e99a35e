"""A site's side of a deployment: a SuperNode that works in the site's folder."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedsemi.data.site import read_site
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import CA, SITE_KEY
from fedsemi.deployment.site.greeting import Greeting, greet
from fedsemi.deployment.site.standing import read_standing
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.text.printable import typed

REFUSALS = "refused.log"
"""Where `warm_node` notes the runs that this site refused, in Flower's folder."""
_PAUSE = 2.0


@dataclass(frozen=True)
class Node:
    """Where a site's data and key lie, and which coordinator it works for."""

    folder: Path
    server: str
    key: Path | None = None
    device: str | None = None

    def work(
        self, show: Callable[[str], None] = print, patience: float = 120.0
    ) -> None:
        """Work until stopped; a coordinator that is not ready yet is waited for.

        Args:
            show: Called with each line that whoever runs the site should see.
            patience: Seconds for which a coordinator may refuse this site.

        Raises:
            ProtocolError: The coordinator does not know this site's key, its
                certificate is not one that this site trusts, or the clocks differ.
        """
        end = math.inf
        while not self._has_left():
            greeting, started = self.greet(), time.monotonic()
            if greeting is None:
                end = math.inf  # the next coordinator may welcome whom this one did not
                time.sleep(_PAUSE)
                continue
            self._check_clock(greeting, show)
            if greeting.enrolled:
                self._work_once(show)
            now = time.monotonic()
            if end == math.inf or now - started > patience:
                end = now + patience  # the first refusal, or the first after work
            elif now > end:
                raise self._refused(greeting.enrolled)
            time.sleep(_PAUSE)
        raise ProtocolError(
            "this site has left its federation; to come back: "
            f"`{typed('fedsemi', 'site', 'return', self.folder)}`",
            code="FS5046",
        )

    def _has_left(self) -> bool:
        """Tell whether the owner has left, and the coordinator knows."""
        standing = read_standing(self.folder)
        return standing.state == "left" and standing.told

    def greet(self) -> Greeting | None:
        """Greet the coordinator; None if nobody answers yet.

        A SuperNode that does not trust its coordinator says so in its log only.
        """
        return greet(self.server, self._found("ca"), self._found("key"))

    def _check_clock(self, greeting: Greeting, show: Callable[[str], None]) -> None:
        warning = greeting.check_clock(self.server)
        if warning:
            show(warning)

    def _work_once(self, show: Callable[[str], None]) -> None:
        """Run a SuperNode until it ends; show which runs were refused meanwhile."""
        refusals = processes.Follower(self._home / REFUSALS)
        process = self.start()
        try:
            while process.poll() is None and not self._has_left():
                time.sleep(_PAUSE / 4)
                for line in refusals.lines():
                    show(line)
        finally:
            processes.stop(process)

    def _refused(self, welcome: bool) -> ProtocolError:
        if welcome:
            why = (
                "its key is enrolled and its clock is right, so that the link broke, "
                f"or another machine works with this key; see {self._home}"
            )
        else:
            key = self._found("key")
            why = f"its key is not enrolled; have the public half of {key} enrolled"
        return ProtocolError(f"{self.server} refused this site: {why}", code="FS5101")

    def start(self) -> subprocess.Popen[bytes]:
        """Check the folder, then connect; returns the running SuperNode."""
        read_site(self.folder)
        return processes.start("flower-supernode", self.command(), self._home)

    def command(self) -> list[str]:
        """Put together the command that `start` runs."""
        settings = {"data": str(self.folder.absolute())}
        if self.device:
            settings["device"] = self.device
        if self.key:
            settings["key"] = str(self.key.absolute())
        return [
            sys.executable,
            "-m",
            "fedsemi.deployment.site.warm_node",
            str(self._home),
            self.server,
            str(self._found("ca")),
            str(self._found("key")),
            json.dumps(settings),
        ]

    @property
    def _home(self) -> Path:
        return self.folder.absolute() / "flower"

    def _found(self, what: Literal["ca", "key"]) -> Path:
        keys = self.folder.absolute() / "keys"
        path = keys / CA if what == "ca" else self.key or keys / SITE_KEY
        if not path.exists():
            remedy = (
                "get it from the coordinator, by a way that you both trust"
                if what == "ca"
                else f"make it with `{typed('fedsemi', 'key', self.folder)}`"
            )
            raise ConfigError(f"'{path}' is missing; {remedy}", code="FS5005")
        return path
