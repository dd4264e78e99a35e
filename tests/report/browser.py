"""A real browser for tests: headless Chromium over its debugging pipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

HOLES = """
[...document.querySelectorAll('.grid')].flatMap((grid) => {
  const boxes = [...grid.children].map((node) => node.getBoundingClientRect());
  const width = grid.getBoundingClientRect().width;
  return boxes.filter((box) => {
    const row = boxes.filter((other) => Math.abs(other.top - box.top) < 2);
    const used = row.reduce((sum, each) => sum + each.width, 0);
    return used + 16 * (row.length - 1) < width - 2;
  });
}).length"""
"""Counts the figures in rows that they do not fill."""


class Browser:
    """One page in one browser; commands are those of the DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        ask, answer = os.pipe(), os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{ask[0]} 4>&{answer[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, str(CHROMIUM), *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(ask[0], answer[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ask[0])
        os.close(answer[1])
        self._write, self._read = (
            os.fdopen(ask[1], "wb", 0),
            os.fdopen(answer[0], "rb", 0),
        )
        self._number, self._buffer, self._session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        """What the page reported since it was watched, see `complaints`."""
        target = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._write.close()
        self._read.close()

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        while (found := self._next()).get("id") != self._number:
            self.events.append(found)
        assert "error" not in found, found
        return found["result"]

    def open(
        self, address: str, width: int = 1280, height: int = 900, scheme: str = "light"
    ) -> None:
        """Show a page in a window of a size, in light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self("Emulation.setEmulatedMedia", features=features)
        self.resize(width, height)
        self("Page.navigate", url=address)
        self.wait("document.querySelector('h1')?.textContent")
        self.wait("document.querySelectorAll('figure svg[role=img]').length > 2")

    def watch(self) -> None:
        """Hear of what the page writes to its console from now on."""
        for domain in ("Runtime", "Log"):
            self(f"{domain}.enable")
        self.events.clear()

    def complaints(self) -> list[str]:
        """Return the errors and warnings since the page was watched."""
        self.js("0")  # take in what has been reported meanwhile
        told = [(each.get("method"), each.get("params", {})) for each in self.events]
        return [
            json.dumps(content)
            for method, content in told
            if method == "Runtime.exceptionThrown"
            or method == "Log.entryAdded"
            or (method == "Runtime.consoleAPICalled" and content["type"] != "log")
        ]

    def resize(self, width: int, height: int) -> None:
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def js(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        answer = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = 20) -> Any:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not (value := self.js(expression)):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.1)
        return value

    def key(self, name: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = self._read.read(1 << 16)
            assert piece, "the browser has died"
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)
