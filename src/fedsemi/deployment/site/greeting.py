"""A site greets its coordinator before it works: is it the right one, are we welcome?

A SuperNode that is not let in says little more than 401. The coordinator's front
answers a signed greeting with its time and with why it would refuse the site.
"""

from __future__ import annotations

import datetime
import http.client
import math
import ssl
import time
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.common.constant import TIMESTAMP_HEADER
from flwr.supercore.constant import (
    FLEET_HTTP_PUBLIC_KEY_HEADER,
    FLEET_HTTP_SIGNATURE_HEADER,
)
from flwr.supercore.primitives.asymmetric import public_key_to_bytes

from fedsemi.deployment.certificates import read_site_key
from fedsemi.deployment.hello import AHEAD, BEHIND, HELLO
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.text.json_text import parsed_object

_CONNECT_SECONDS = 10
_MOST_BYTES = 1000
_UNEASY = 2.0
# A coordinator that starts or stops may hang up in the middle of the handshake.
_BROKEN_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


@dataclass(frozen=True)
class Greeting:
    """What a coordinator said."""

    enrolled: bool
    ahead: float
    """Seconds that the clock here is ahead of the coordinator's; behind if negative."""

    def check_clock(self, server: str) -> str | None:
        """Return a warning for a clock that is off, and refuse one that is far off."""
        if abs(self.ahead) <= _UNEASY:
            return None
        way = "ahead of" if self.ahead > 0 else "behind"
        text = f"the clock here is {abs(self.ahead):.1f} s {way} that of {server}"
        if not -BEHIND < self.ahead < AHEAD:
            raise ProtocolError(
                f"{text}, which refuses more than {AHEAD:.0f} s ahead or "
                f"{BEHIND:.0f} s behind; set the clocks, e.g. with "
                "`timedatectl set-ntp true`, and start again",
                code="FS5023",
            )
        return (
            f"FS5024 {text}; a site that is {AHEAD:.0f} s ahead is refused, so set the "
            "clocks, e.g. with `timedatectl set-ntp true`"
        )


def greet(server: str, ca: Path, key: Path) -> Greeting | None:
    """Greet a coordinator; return None if nobody answers yet.

    Raises:
        ProtocolError: It cannot be trusted, or is no coordinator of fedsemi.
    """
    host, _, port = server.rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(
            f"'{server}' is not host:port; give --server as fl.example.org:9092",
            code="FS5009",
        )
    context = ssl.create_default_context(cafile=ca)
    connection = http.client.HTTPSConnection(
        host.strip("[]"), int(port), timeout=_CONNECT_SECONDS, context=context
    )
    headers = signed(read_site_key(key), time.time())
    try:
        connection.connect()
        before = time.time()
        connection.request("POST", HELLO, headers=headers)
        response = connection.getresponse()
        content = response.read(_MOST_BYTES)
        here = (before + time.time()) / 2
    except _BROKEN_OFF:
        return None
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", None) or error.reason
        raise ProtocolError(
            f"{server} cannot be trusted: {reason}; is {ca} from this coordinator?",
            code="FS5102",
        ) from None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    if response.status >= 500:  # a proxy whose coordinator is not there yet
        return None
    return _understood(server, response.status, content, here)


def signed(key: ec.EllipticCurvePrivateKey, now: float) -> dict[str, str]:
    """Make the headers by which Flower knows a site."""
    dated = datetime.datetime.fromtimestamp(now, datetime.UTC).isoformat()
    signature = key.sign(dated.encode(), ec.ECDSA(hashes.SHA256()))
    public = public_key_to_bytes(key.public_key())
    return {
        FLEET_HTTP_PUBLIC_KEY_HEADER: b64encode(public).decode(),
        TIMESTAMP_HEADER: dated,
        FLEET_HTTP_SIGNATURE_HEADER: b64encode(signature).decode(),
    }


def _understood(server: str, status: int, content: bytes, here: float) -> Greeting:
    try:
        if status != 200:
            raise ValueError(status)
        said = parsed_object(content)
        ahead = here - float(said["time"])
        if not math.isfinite(ahead):
            raise ValueError(ahead)
        return Greeting(said["verdict"] != "key", ahead)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise ProtocolError(
            f"{server} does not answer as a coordinator of this release does (status "
            f"{status}); install the same release there, and let a proxy pass {HELLO}",
            code="FS5020",
        ) from None
