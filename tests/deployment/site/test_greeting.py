from __future__ import annotations

import re
import time
from base64 import b64decode, b64encode
from contextlib import contextmanager

import pytest

pytest.importorskip("flwr")

from starlette.responses import Response

from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates, make_site_key
from fedsemi.deployment.coordinator import front
from fedsemi.deployment.coordinator.front import Front, Guests
from fedsemi.deployment.coordinator.register import read_enrolled
from fedsemi.deployment.site.greeting import Greeting, greet
from fedsemi.errors import ConfigError, ProtocolError

from .. import proxy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("greeting")
    make_certificates(folder / "coordinator", [folder / "site-0"], ["127.0.0.1"])
    return folder


@contextmanager
def _serving(folder, app):
    port = processes.free_port()
    with proxy.running(app, port, folder / "coordinator" / "keys"):
        yield f"127.0.0.1:{port}"


def _greet(folder, server, key="site.key"):
    keys = folder / "site-0" / "keys"
    return greet(server, keys / "ca.crt", keys / key)


def _front(folder):
    guests = Guests(read_enrolled(folder / "coordinator").values())
    return Front(None, guests, 0, "secret")


def test_a_site_learns_whether_it_is_enrolled_and_how_far_its_clock_is_off(
    folder, monkeypatch
):
    """Over TLS, from the front of a coordinator whose clock is seven seconds late."""
    make_site_key(folder / "site-0" / "keys" / "other.key")
    late = type("Clock", (), {"time": staticmethod(lambda: time.time() - 7)})
    monkeypatch.setattr(front, "time", late)
    with _serving(folder, _front(folder)) as server:
        enrolled, stranger = _greet(folder, server), _greet(folder, server, "other.key")
    assert enrolled is not None and stranger is not None
    assert (enrolled.enrolled, stranger.enrolled) == (True, False)
    assert enrolled.ahead == pytest.approx(7, abs=2)


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (403, b""),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b"\xff"),
        (200, b'{"time": "noon"}'),
        (200, b'{"verdict": "welcome", "time": 1' + b"0" * 400 + b"}"),
        (200, b'{"verdict": "welcome", "time": NaN}'),
    ],
)
def test_who_does_not_greet_as_a_coordinator_is_not_worked_for(folder, status, content):
    with (
        _serving(folder, Response(content, status)) as server,
        pytest.raises(ProtocolError, match=rf"FS5020 .*status {status}.*hello"),
    ):
        _greet(folder, server)


def test_a_proxy_without_its_coordinator_is_waited_for(folder):
    with _serving(folder, Response(b"", 502)) as server:
        assert _greet(folder, server) is None


@pytest.mark.parametrize("ahead", [0.0, 1.9, -1.9])
def test_small_differences_of_clocks_are_not_mentioned(ahead):
    assert Greeting(True, ahead).check_clock("x:1") is None


@pytest.mark.parametrize(
    ("ahead", "text"),
    [(2.1, "2.1 s ahead of"), (4.9, "4.9 s ahead of"), (-304.0, "304.0 s behind")],
)
def test_a_clock_that_is_off_but_let_in_gets_a_warning(ahead, text):
    warning = Greeting(True, ahead).check_clock("x:1")
    assert warning is not None and re.match(rf"FS5024 .*{text} that of x:1", warning)


@pytest.mark.parametrize("ahead", [5.0, 3600.0, -305.0])
def test_a_clock_beyond_flowers_limit_is_refused_with_the_remedy(ahead):
    with pytest.raises(ProtocolError, match=r"FS5023 .* s (ahead|behind).*timedatectl"):
        Greeting(True, ahead).check_clock("x:1")


def _of_unknown_kind(key):
    head, *body, foot = key.read_bytes().splitlines()
    inside = b64decode(b"".join(body)).replace(
        b"ecdsa-sha2-nistp384", b"new-kind-of-a-key!!"
    )
    return b"\n".join([head, b64encode(inside), foot])


@pytest.mark.parametrize("spoiled", [lambda _: b"no key", _of_unknown_kind])
def test_a_key_of_another_kind_is_named(folder, spoiled):
    keys = folder / "site-0" / "keys"
    (keys / "bad.key").write_bytes(spoiled(keys / "site.key"))
    with pytest.raises(ConfigError, match=r"FS5026 .*bad\.key.*`fedsemi key FOLDER`"):
        _greet(folder, "127.0.0.1:1", "bad.key")
