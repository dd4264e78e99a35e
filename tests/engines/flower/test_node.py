from __future__ import annotations

import socket
import threading

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


def test_a_coordinator_that_does_not_speak_tls_is_not_trusted(folder):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        node = Node(folder, f"127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(ProtocolError, match=r"FS5102 .* cannot be trusted"):
            node.trusts_coordinator()


def test_an_address_without_a_port_is_refused_with_an_example(folder):
    with pytest.raises(ConfigError, match=r"FS5009 'localhost' .*host:port"):
        Node(folder, "localhost").trusts_coordinator()


def test_a_missing_certificate_is_named_with_its_remedy(folder):
    (folder / "keys" / "ca.crt").unlink()
    with pytest.raises(ConfigError, match=r"FS5005 .*ca\.crt.*`fedsemi certificates`"):
        Node(folder, "127.0.0.1:1").trusts_coordinator()
