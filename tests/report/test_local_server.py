"""Visitors who hold, flood, lie and pry get no more than their part."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fedsemi.report.live import LivePage, following
from fedsemi.report.local_server import HOST, Limits

SMALL = Limits(seconds=0.3, visitors=4, listeners=2)


@pytest.fixture
def run(make_run) -> Path:
    return make_run(rounds=2)


@pytest.fixture
def server(run: Path) -> Iterator[LivePage]:
    with following(run) as found:
        yield found


def dial(server: LivePage) -> socket.socket:
    return socket.create_connection((HOST, server.server_port), timeout=10)


def heard(connection: socket.socket) -> str:
    """Read until the server hangs up."""
    text = b""
    try:
        while piece := connection.recv(1 << 16):
            text += piece
    except ConnectionResetError:
        pass
    return text.decode("latin-1")


def ask(server: LivePage, *lines: str, host: str | None = None) -> str:
    """Send a request as these lines, with the right host unless there is another."""
    named = f"Host: {host or f'localhost:{server.server_port}'}"
    with dial(server) as connection:
        text = "\r\n".join([lines[0], named, *lines[1:], "", ""])
        connection.sendall(text.encode("latin-1"))
        return heard(connection)


def status(answer: str) -> int:
    return int(answer.split(" ", 2)[1])


def test_half_a_request_is_dropped_and_blocks_nobody(run: Path) -> None:
    with following(run, limits=SMALL) as server, dial(server) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert status(ask(server, "GET /data HTTP/1.1")) == 200
        assert heard(half) == ""  # the server hung up


def test_a_request_that_drips_is_dropped_as_a_whole(run: Path) -> None:
    with following(run, limits=SMALL) as server, dial(server) as slow:
        slow.settimeout(0.05)
        for _ in range(200):  # each byte comes long before the limit
            try:
                slow.sendall(b"a")
                dropped = slow.recv(1) == b""
            except TimeoutError:
                dropped = False
            except OSError:
                dropped = True
            if dropped:
                break
        assert dropped


def test_who_finds_no_room_is_told_so_and_later_let_in(run: Path) -> None:
    limits = Limits(seconds=60, visitors=4)
    with following(run, limits=limits) as server, ExitStack() as stack:
        held = [stack.enter_context(dial(server)) for _ in range(4)]
        for each in held:
            each.sendall(b"GET /")
        answer = ask(server, "GET / HTTP/1.1")
        assert status(answer) == 503 and "too many connections" in answer
        held[0].close()
        until(lambda: status(ask(server, "GET / HTTP/1.1")) == 200)


def test_of_a_hundred_listeners_sixteen_get_a_seat(server: LivePage) -> None:
    before, got = threading.active_count(), []
    with ExitStack() as stack:
        for _ in range(100):
            each = stack.enter_context(dial(server))
            host = f"Host: 127.0.0.1:{server.server_port}"
            each.sendall(f"GET /events HTTP/1.1\r\n{host}\r\n\r\n".encode())
            got.append(int(each.recv(1 << 16).split(b" ")[1]))
        assert got == [200] * 16 + [503] * 84
        assert threading.active_count() - before <= server.limits.visitors
        assert status(ask(server, "GET / HTTP/1.1")) == 200
        assert "16 pages follow this run already" in ask(server, "GET /events HTTP/1.1")


def test_a_seat_that_is_left_is_given_again(run: Path, monkeypatch) -> None:
    monkeypatch.setattr("fedsemi.report.live._BEAT_EVERY", 0.0)
    monkeypatch.setattr("fedsemi.report.live._LOOK_EVERY", 0.01)
    with following(run, limits=Limits(listeners=1)) as server:
        host = f"Host: localhost:{server.server_port}"
        for _ in range(3):
            with dial(server) as each:
                each.sendall(f"GET /events HTTP/1.1\r\n{host}\r\n\r\n".encode())
                assert b" 200 " in each.recv(1 << 16)
            until(lambda: "event-stream" in ask(server, "HEAD /events HTTP/1.1"))


WRONG_HOSTS = (
    "evil.example",
    "evil.example:{port}",
    "localhost",
    "127.0.0.1",
    "localhost:1",
    "localhost:",
    "user@localhost:{port}",
    "evil.example@127.0.0.1:{port}",
    "localhost:{port}.evil.example",
    "localhost:{port}:80",
    "localhost:{port}, evil.example",
    "localhost:{port}/",
    "localhost.:{port}",
    "127.1:{port}",
    "[::1]:{port}",
    "localhost:{port}\r\nHost: evil.example",
    "evil.example\r\nHost: localhost:{port}",
    "localhost:{port}\r\nHost: localhost:{port}",
)


def test_a_wrong_name_is_refused(server: LivePage) -> None:
    for host in WRONG_HOSTS:
        named = host.format(port=server.server_port)
        for path in ("/", "/data", "/events", "/elsewhere"):
            answer = ask(server, f"GET {path} HTTP/1.1", host=named)
            assert status(answer) == 403, host
            assert "runs" not in answer


def test_no_name_is_refused_and_both_right_ones_are_taken(server: LivePage) -> None:
    with dial(server) as connection:
        connection.sendall(b"GET /data HTTP/1.1\r\n\r\n")
        assert status(heard(connection)) == 403
    with dial(server) as connection:
        connection.sendall(b"GET /data\r\n\r\n")  # as in 1991
        assert "403" in heard(connection)
    for name in ("localhost", "127.0.0.1"):
        host = f"{name}:{server.server_port}"
        assert status(ask(server, "GET /data HTTP/1.1", host=host)) == 200


def test_nothing_but_reading_is_allowed(server: LivePage) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X", "get"):
        answer = ask(server, f"{method} / HTTP/1.1")
        assert status(answer) == 405, method
        assert "Allow: GET, HEAD" in answer


def test_head_sends_no_body(server: LivePage) -> None:
    for path in ("/", "/data", "/events"):
        head, _, body = ask(server, f"HEAD {path} HTTP/1.1").partition("\r\n\r\n")
        assert status(head) == 200 and body == ""


def test_a_head_that_is_too_large_is_refused(server: LivePage) -> None:
    for lines in (["X: " + "x" * 20_000], [f"X-{n}: x" for n in range(100)]):
        assert status(ask(server, "GET / HTTP/1.1", *lines)) == 431


def test_what_is_no_request_is_refused_or_dropped(server: LivePage) -> None:
    for line in ("\x00\xff", "GET / HTTP/9", "GET / x HTTP/1.1", " "):
        answer = ask(server, line)
        assert answer == "" or status(answer) in (400, 405, 505), line
    assert status(ask(server, "GET /data HTTP/1.1")) == 200


def test_pages_from_elsewhere_get_no_data_and_no_seat(server: LivePage) -> None:
    for site, expected in (("cross-site", 403), ("same-site", 403), ("none", 200)):
        told = f"Sec-Fetch-Site: {site}"
        assert status(ask(server, "GET /data HTTP/1.1", told)) == expected
        assert status(ask(server, "HEAD /events HTTP/1.1", told)) == expected
    assert status(ask(server, "GET / HTTP/1.1", "Sec-Fetch-Site: cross-site")) == 200


def test_every_answer_says_what_a_browser_must_not_do(server: LivePage) -> None:
    for line in (
        *("GET / HTTP/1.1", "GET /data HTTP/1.1", "HEAD /events HTTP/1.1"),
        *("GET /elsewhere HTTP/1.1", "POST / HTTP/1.1", "GET / HTTP/9"),
    ):
        head = ask(server, line).partition("\r\n\r\n")[0]
        assert "Content-Security-Policy: default-src 'none'" in head
        assert "frame-ancestors 'none'" in head
        assert "Python" not in head
        for header in (
            "X-Frame-Options: DENY",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cross-Origin-Resource-Policy: same-origin",
            "Cache-Control: no-store",
            "Server: fedsemi",
        ):
            assert header in head, line


def test_the_policy_names_the_parts_of_the_page_by_their_hashes(
    server: LivePage,
) -> None:
    head, _, page = ask(server, "GET / HTTP/1.1").partition("\r\n\r\n")
    page = page.encode("latin-1").decode()
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        (part,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in head
        assert f"{kind} 'sha256-{digest}';" in page
    assert "unsafe" not in head


def until(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
