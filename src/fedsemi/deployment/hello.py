"""What the front of a coordinator and a site that greets it must agree on."""

from __future__ import annotations

from flwr.common.constant import SYSTEM_TIME_TOLERANCE, TIMESTAMP_TOLERANCE

HELLO = "/v1/fedsemi/hello"
AHEAD = float(SYSTEM_TIME_TOLERANCE)
"""Seconds that the clock of a site may be ahead of the coordinator's."""
BEHIND = float(TIMESTAMP_TOLERANCE + SYSTEM_TIME_TOLERANCE)
"""Seconds that a signed request may be old when it arrives."""
