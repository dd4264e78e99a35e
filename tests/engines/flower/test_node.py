from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("flwr")

from fedsemi.engines.flower import processes
from fedsemi.engines.flower.certificates import make_certificates
from fedsemi.engines.flower.node import Node
from fedsemi.errors import ConfigError, ProtocolError


@pytest.fixture
def folder(tmp_path):
    make_certificates(tmp_path / "coordinator", [tmp_path / "site-0"], ["127.0.0.1"])
    return tmp_path / "site-0"


def test_a_coordinator_that_is_not_there_yet_is_waited_for(folder):
    assert not Node(folder, f"127.0.0.1:{processes.free_port()}").trusts_coordinator()


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
        Node(folder, server).trusts_coordinator()


def test_a_coordinator_that_hangs_up_is_waited_for(folder):
    with _answering(b"") as server:
        assert not Node(folder, server).trusts_coordinator()


def test_an_address_without_a_port_is_refused_with_an_example(folder):
    with pytest.raises(ConfigError, match=r"FS5009 'localhost' .*host:port"):
        Node(folder, "localhost").trusts_coordinator()


def test_a_missing_certificate_is_named_with_its_remedy(folder):
    (folder / "keys" / "ca.crt").unlink()
    with pytest.raises(ConfigError, match=r"FS5005 .*ca\.crt.*`fedsemi certificates`"):
        Node(folder, "127.0.0.1:1").trusts_coordinator()
