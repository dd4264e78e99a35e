from __future__ import annotations

import asyncio
import time
from base64 import b64encode

import pytest

pytest.importorskip("flwr")

import httpx
from cryptography.hazmat.primitives.asymmetric import ec

from fedsemi.deployment.coordinator import front
from fedsemi.deployment.coordinator.front import (
    FLEET,
    HELLO,
    MOST_BYTES,
    OPERATOR,
    Front,
    Guests,
)
from fedsemi.deployment.site.greeting import signed

_PUBLIC, _PRIVATE = "https://fl.example.org:9092", "https://127.0.0.1:40000"
_KEY = ec.generate_private_key(ec.SECP384R1())
_OPERATOR = {"authorization": "Bearer open sesame"}


class Flower:
    """Stands behind the front and notes what gets through."""

    def __init__(self):
        self.reached: list[tuple[str, bytes]] = []

    async def __call__(self, scope, receive, send):
        body = await receive()
        self.reached.append((scope["path"], body["body"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"from Flower"})


@pytest.fixture
def flower():
    return Flower()


def _ask(flower, url, method="POST", headers=None, content=b""):
    app = Front(flower, Guests([_KEY.public_key()]), 40000, "open sesame")

    async def ask():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.request(method, url, headers=headers, content=content)

    return asyncio.run(ask())


def _site(ahead=0.0, key=_KEY):
    return signed(key, time.time() + ahead)


def test_an_enrolled_site_reaches_the_fleet_routes_with_its_body(flower):
    for path in sorted(FLEET):
        answer = _ask(flower, _PUBLIC + path, headers=_site(), content=b"weights")
        assert (answer.status_code, answer.text) == (200, "from Flower")
    assert flower.reached == [(path, b"weights") for path in sorted(FLEET)]


@pytest.mark.parametrize(
    "path",
    [
        *sorted(OPERATOR),
        "/v1/control/stop-run",
        "/v1/control/stream-logs",
        "/v1/fleet/register-node",
        "/v1/fleet/unregister-node",
        "/v1/fleet/",
        "/v1/fleet/pull-messages/",
        "/v1/fleet/../control/start-run",
        "/v1/fleet/%2e%2e/control/start-run",
        "//v1/control/start-run",
        "/health",
        "/docs",
        "/openapi.json",
        "/",
    ],
)
def test_no_other_route_exists_on_the_public_port(flower, path):
    """Neither for a site nor for who has the operator's secret."""
    for headers in (None, _site(), _OPERATOR, _site() | _OPERATOR):
        assert _ask(flower, _PUBLIC + path, headers=headers).status_code == 403
    assert flower.reached == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(flower, method):
    for url, headers in (
        (f"{_PUBLIC}/v1/fleet/get-run", _site()),
        (f"{_PRIVATE}/v1/control/start-run", _OPERATOR),
    ):
        assert _ask(flower, url, method, headers).status_code == 403
    assert flower.reached == []


def test_a_request_that_no_enrolled_key_signed_is_refused(flower):
    stranger = ec.generate_private_key(ec.SECP384R1())
    borrowed = _site(key=stranger) | {"flwr-public-key": _site()["flwr-public-key"]}
    redated = _site() | {"flwr-timestamp": _site(ahead=-1)["flwr-timestamp"]}
    broken = _site() | {"flwr-signature": "not base64!"}
    short = _site() | {"flwr-signature": b64encode(b"short").decode()}
    for headers in (None, _site(key=stranger), borrowed, redated, broken, short):
        answer = _ask(flower, f"{_PUBLIC}/v1/fleet/get-fab", headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"detail": "key"})
    assert flower.reached == []


def test_a_header_that_is_there_twice_is_refused(flower):
    twice = [*_site().items(), ("flwr-timestamp", _site()["flwr-timestamp"])]
    assert _ask(flower, f"{_PUBLIC}/v1/fleet/get-fab", headers=twice).status_code == 401


@pytest.mark.parametrize(
    ("ahead", "status"), [(4.5, 200), (5.5, 401), (-304, 200), (-306, 401)]
)
def test_clocks_may_differ_as_far_as_flower_allows(flower, ahead, status):
    answer = _ask(flower, f"{_PUBLIC}/v1/fleet/get-run", headers=_site(ahead))
    assert answer.status_code == status
    if status == 401:
        assert answer.json() == {"detail": "clock"}


def test_a_greeting_tells_the_time_and_whether_the_site_may_enter(flower):
    stranger = ec.generate_private_key(ec.SECP384R1())
    for headers, verdict in (
        (_site(), "welcome"),
        (_site(ahead=60), "clock"),
        (_site(key=stranger), "key"),
        (None, "key"),
    ):
        said = _ask(flower, _PUBLIC + HELLO, headers=headers).json()
        assert said["verdict"] == verdict
        assert abs(said["time"] - time.time()) < 10
    assert flower.reached == []


def test_the_private_port_opens_to_the_operators_secret_alone(flower):
    for headers in (
        None,
        _site(),
        {"authorization": "Bearer open"},
        {"authorization": "open sesame"},
        {"authorization": ""},
        [*_OPERATOR.items(), *_OPERATOR.items()],
    ):
        for path in OPERATOR | FLEET | {HELLO, "/health"}:
            assert _ask(flower, _PRIVATE + path, headers=headers).status_code == 401
    assert flower.reached == []
    for path in sorted(OPERATOR):
        assert _ask(flower, _PRIVATE + path, headers=_OPERATOR).text == "from Flower"


def test_the_operator_reaches_only_what_a_coordinator_needs(flower):
    for path in (*FLEET, HELLO, "/v1/control/add-app", "/v1/runtime/create-task"):
        assert _ask(flower, _PRIVATE + path, headers=_OPERATOR).status_code == 403
    assert flower.reached == []


async def _pieces(count):
    for _ in range(count):
        yield bytes(1 << 20)


def test_a_body_over_eight_megabytes_is_refused_announced_or_not(flower):
    url = f"{_PUBLIC}/v1/fleet/push-object"
    whole, over = bytes(MOST_BYTES), bytes(MOST_BYTES + 1)
    assert _ask(flower, url, headers=_site(), content=whole).status_code == 200
    assert _ask(flower, url, headers=_site(), content=over).status_code == 413
    assert _ask(flower, url, headers=_site(), content=_pieces(8)).status_code == 200
    assert _ask(flower, url, headers=_site(), content=_pieces(9)).status_code == 413
    assert len(flower.reached) == 2


def test_the_body_of_a_stranger_is_not_read(flower):
    app = Front(flower, Guests([]), 40000, "x")
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/fleet/push-object",
        "headers": [],
        "server": ("127.0.0.1", 9092),
    }
    sent = []

    async def receive():
        pytest.fail("the body was read")

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 401
    assert (b"connection", b"close") in sent[0]["headers"]


def test_a_body_that_does_not_come_is_not_waited_for(flower, monkeypatch):
    monkeypatch.setattr(front, "_BODY_SECONDS", 0.05)

    async def slow():
        await asyncio.sleep(60)
        yield b""

    url = f"{_PUBLIC}/v1/fleet/push-object"
    assert _ask(flower, url, headers=_site(), content=slow()).status_code == 408
    assert flower.reached == []
