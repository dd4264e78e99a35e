"""A stand-in for the reverse proxy of docs/deployment.md: path rule and body limit."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import Response

from fedsemi.deployment.coordinator.front import HELLO

MOST_BYTES = 8 << 20


class Proxy:
    """Passes what sites need on to a coordinator and refuses all else."""

    def __init__(self, target: str, ca: Path) -> None:
        self._target = f"https://{target}"
        self._context = ssl.create_default_context(cafile=ca)
        self.largest = 0
        self.refused: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        body = await request.body()
        path = request.url.path
        self.largest = max(self.largest, len(body))
        passed = path.startswith("/v1/fleet/") or path == HELLO
        if not passed or len(body) > MOST_BYTES:
            self.refused.append(path)
            await Response(status_code=403)(scope, receive, send)
            return
        headers = _without(request.headers, "host", "content-length")
        # As patient as the guide's proxy: the coordinator holds questions for seconds.
        async with httpx.AsyncClient(verify=self._context, timeout=120) as client:
            url = self._target + path
            answer = await client.post(url, content=body, headers=headers)
        handed = _without(answer.headers, "content-length", "content-encoding")
        await Response(answer.content, answer.status_code, handed)(scope, receive, send)


def _without(headers: Any, *names: str) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in names}


@contextmanager
def running(app: Any, port: int, keys: Path) -> Iterator[None]:
    """Serve a proxy, or any other app, over TLS in a thread."""
    config = uvicorn.Config(
        app,
        port=port,
        ssl_certfile=keys / "server.crt",
        ssl_keyfile=keys / "server.key",
        lifespan="off",
        loop="asyncio",  # uvloop complains when it is closed in a thread
        ws="none",  # its import warns, and warnings are errors here
        log_level="error",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "it did not start"
        time.sleep(0.05)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(20)
