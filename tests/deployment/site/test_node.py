from __future__ import annotations

import re
import socket
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("flwr")

from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.site import node
from fedsemi.deployment.site.greeting import Greeting
from fedsemi.deployment.site.node import REFUSALS, Node
from fedsemi.errors import ConfigError, ProtocolError


@pytest.fixture
def folder(tmp_path):
    make_certificates(tmp_path / "coordinator", [tmp_path / "site-0"], ["127.0.0.1"])
    return tmp_path / "site-0"


def test_a_coordinator_that_is_not_there_yet_is_waited_for(folder):
    assert Node(folder, f"127.0.0.1:{processes.free_port()}").greet() is None


@contextmanager
def _answering(said: bytes):
    """A server that says one thing to the first who calls, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_coordinator_that_does_not_speak_tls_is_not_trusted(folder):
    with (
        _answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as server,
        pytest.raises(ProtocolError, match=r"FS5102 .* cannot be trusted"),
    ):
        Node(folder, server).greet()


def test_a_coordinator_that_hangs_up_is_waited_for(folder):
    with _answering(b"") as server:
        assert Node(folder, server).greet() is None


def test_an_address_without_a_port_is_refused_with_an_example(folder):
    with pytest.raises(ConfigError, match=r"FS5009 'localhost' .*host:port"):
        Node(folder, "localhost").greet()


def test_a_missing_certificate_is_named_with_its_remedy(folder):
    (folder / "keys" / "ca.crt").unlink()
    with pytest.raises(ConfigError, match=r"FS5005 .*ca\.crt.*from the coordinator"):
        Node(folder, "127.0.0.1:1").greet()


def test_a_missing_key_is_named_with_its_remedy(folder):
    (folder / "keys" / "site.key").unlink()
    with pytest.raises(ConfigError, match=r"FS5005 .*site\.key.*`fedsemi key "):
        Node(folder, "127.0.0.1:1").greet()


class Unlucky(Node):
    """A site whose SuperNodes end at once."""

    def _work_once(self, show):
        show("worked")


def _working(folder, monkeypatch, greeting):
    """Let a site work for a coordinator that always gives one greeting."""
    monkeypatch.setattr(node, "greet", lambda *_: greeting)
    monkeypatch.setattr(node, "_PAUSE", 0.0)
    lines: list[str] = []
    with pytest.raises(ProtocolError) as raised:
        Unlucky(folder, "fl.example.org:9092").work(lines.append, patience=0.05)
    return str(raised.value), lines


def test_a_site_that_is_not_enrolled_is_told_so_and_sends_nothing(folder, monkeypatch):
    said, lines = _working(folder, monkeypatch, Greeting(False, 0.0))
    assert re.search(
        r"FS5101 fl.example.org:9092 .* not enrolled; have .*site\.key", said
    )
    assert lines == []


def test_a_site_that_is_welcome_but_cut_off_again_and_again_is_told_so(
    folder, monkeypatch
):
    said, lines = _working(folder, monkeypatch, Greeting(True, 0.0))
    assert re.search(
        "FS5101 .*key is enrolled and its clock is right.*link broke", said
    )
    assert set(lines) == {"worked"}


def test_a_site_waits_for_the_next_coordinator_however_long_it_takes(
    folder, monkeypatch
):
    """What an earlier one refused does not count."""
    greetings = iter([Greeting(True, 0.0), None] * 5 + [Greeting(True, 9.0)])
    monkeypatch.setattr(node, "greet", lambda *_: next(greetings))
    monkeypatch.setattr(node, "_PAUSE", 0.03)
    lines: list[str] = []
    with pytest.raises(ProtocolError, match="FS5023"):
        Unlucky(folder, "fl.example.org:9092").work(lines.append, patience=0.02)
    assert lines == ["worked"] * 5


def test_a_site_whose_clock_is_six_seconds_ahead_does_not_start(folder, monkeypatch):
    said, lines = _working(folder, monkeypatch, Greeting(True, 6.04))
    assert re.search(r"FS5023 the clock here is 6\.0 s ahead of that of fl\.", said)
    assert lines == []


def test_a_site_whose_clock_is_three_seconds_ahead_is_warned(folder, monkeypatch):
    _, lines = _working(folder, monkeypatch, Greeting(True, 3.0))
    assert re.search(r"FS5024 the clock here is 3\.0 s ahead .* is refused", lines[0])


def test_what_a_site_refuses_is_shown_to_whoever_runs_it(folder, monkeypatch):
    """The tasks are carried out in another process, which leaves a line."""
    ended = iter([None, 0])

    class Ended:
        def poll(self):
            processes.add_line(folder / "flower" / REFUSALS, "run 7: FS5021 refused")
            return next(ended)

    (folder / "flower").mkdir()
    processes.add_line(folder / "flower" / REFUSALS, "an old line")
    monkeypatch.setattr(Node, "start", lambda self: Ended())
    monkeypatch.setattr(processes, "stop", lambda process: None)
    monkeypatch.setattr(node, "_PAUSE", 0.0)
    lines: list[str] = []
    Node(folder, "127.0.0.1:1")._work_once(lines.append)
    assert lines == ["run 7: FS5021 refused"]
