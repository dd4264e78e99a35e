"""The questions of docs/questions.md, answered from records by the rules given there.

What has fewer seeds than planned is answered with what there is, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers_averaging import beyond_averaging
from fedsemi.evidence.answers_balanced import balanced
from fedsemi.evidence.answers_collapse import collapse
from fedsemi.evidence.answers_confirmed import confirmed
from fedsemi.evidence.answers_dose import dose
from fedsemi.evidence.answers_held_out import by_held_out
from fedsemi.evidence.answers_ramp import ramp
from fedsemi.evidence.answers_rare import when
from fedsemi.evidence.answers_rules import rules
from fedsemi.evidence.answers_share import labeled_share
from fedsemi.evidence.answers_tuning import tuned
from fedsemi.evidence.answers_turns import by_turns
from fedsemi.evidence.answers_weights import (
    PLACES,
    beats_uniform,
    diversity_beside_presence,
)
from fedsemi.evidence.answers_worth import worth
from fedsemi.evidence.results import Evidence

_ASKED: dict[str, Callable[[Evidence], Answer]] = {
    **{name: partial(beats_uniform, name) for name in PLACES},
    "q2": diversity_beside_presence,
    "q3": when,
    "q3-dose": dose,
    "q4": labeled_share,
    "q4-held-out": by_held_out,
    "q4-ramp": ramp,
    "q5": worth,
    "q6": rules,
    "q6-confirm": confirmed,
    "q7": tuned,
    "q8": beyond_averaging,
    "q9": by_turns,
    "q10": balanced,
    "q11": collapse,
}


def answer_of(name: str, evidence: Evidence) -> Answer | None:
    """Answer a question by the name of its artifact; None for tables and figures."""
    return _ASKED[name](evidence) if name in _ASKED else None
