"""Did the unlabeled sites help, by how much, how sure? One sentence for all places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fedsemi.runs.silence import NEVER_ASKED, Silence


@dataclass(frozen=True)
class Difference:
    """A model beside that of labels alone, in percent, and how sure it is."""

    ours: float
    alone: float
    low: float | None
    high: float | None
    """95 % interval of ours − alone; None if nothing tells how sure it is."""
    over: str
    """What the interval is over; without one, why there is none."""
    balanced: float = 0.0
    """Ours − alone in balanced accuracy, in points; 0 if it is not known."""
    usual: float | None = None
    """Ours − alone on average over the last tests, in points; None if not known."""


@dataclass(frozen=True)
class Case:
    """All that is known about the question."""

    difference: Difference | None = None
    missing: str = ""
    """Why there is no difference, and what to do about it."""
    silence: Silence = NEVER_ASKED
    remedy: str = ""
    """What to change if nobody contributed."""
    who: str = "unlabeled sites"


def helped(case: Case) -> str:
    """Say in a sentence whether unlabeled sites helped, by how much and how sure.

    >>> helped(Case(missing="there was no test"))
    'Whether the unlabeled sites helped cannot be said: there was no test.'
    """
    if case.silence.total:
        return _silent(case)
    found, who = case.difference, case.who
    if found is None:
        return f"Whether the {who} helped cannot be said: {case.missing}."
    numbers = _numbers(found)
    by = f"{found.ours - found.alone:+.1f} points"
    if found.low is None or found.high is None:
        unsure = f"How sure it is that the {who} helped cannot be said"
        return f"{unsure}: {numbers} ({by}; {found.over}).{_rare_classes(found)}"
    sure = f"95 % interval {found.low:+.1f} to {found.high:+.1f} over {found.over}"
    if found.low > 0:
        verdict = f"The {who} helped"
    elif found.high < 0:
        verdict = f"The {who} hurt"
    else:
        verdict = f"It is undecided whether the {who} helped"
    return f"{verdict}: {numbers} ({by}, {sure}).{_swing(found)}{_rare_classes(found)}"


def _swing(found: Difference) -> str:
    """Warn where the last round is not like those before it."""
    low, usual, high = found.low, found.usual, found.high
    if low is None or usual is None or high is None or low <= usual <= high:
        return ""
    return (
        f" But it is {usual:+.1f} points on average over the last tests: rounds swing, "
        "so compare over seeds before you believe a single one."
    )


def _rare_classes(found: Difference) -> str:
    """Warn where more images are right and classes on average less, or the reverse."""
    if abs(found.balanced) < 1 or found.balanced * (found.ours - found.alone) >= 0:
        return ""
    return (
        " But balanced accuracy, in which rare classes count as much as others, moved "
        f"the other way: {found.balanced:+.1f} points."
    )


def _silent(case: Case) -> str:
    why = "as no pseudo-label was confident enough"
    if case.silence.num_pseudo:
        why = "though some had confident pseudo-labels"
    rounds = f"{case.silence.silent} of {case.silence.asked} rounds"
    found = case.difference
    beside = "" if found is None else f" Measured: {_numbers(found)}."
    return (
        f"The {case.who} did not help: none of them contributed in {rounds}, {why}; "
        f"{case.remedy}.{beside}"
    )


def _numbers(found: Difference) -> str:
    return f"accuracy {found.ours:.1f} %, with labels alone {found.alone:.1f} %"


def louder(config: Mapping[str, Any], silence: Silence) -> str:
    """Say which settings let unlabeled sites contribute, and what they are now."""
    if silence.num_pseudo:
        return "look at labeled_share, at skipped rounds and at what the guard cut"
    stages = config["stages"]
    place, ways = len(stages) - 1, []
    cutoff = (stages[-1].get("learner") or {}).get("cutoff")
    if cutoff is not None:
        ways.append(f"lower stages.{place}.learner.cutoff (now {cutoff})")
    if place:
        rounds = stages[0]["rounds"]
        ways.append(f"give the warm-up more rounds (stages.0.rounds, now {rounds})")
    else:
        ways.append("begin with a warm-up, a stage of supervised")
    return " or ".join(ways)
