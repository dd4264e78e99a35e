"""The words in which a site tells its coordinator that it leaves, or is away."""

from __future__ import annotations

LEFT = "FS5041"
AWAY = "FS5042"
EXCUSES = (LEFT, AWAY)
"""Codes of a refusal that is nobody's fault, and for which nobody waits again."""
