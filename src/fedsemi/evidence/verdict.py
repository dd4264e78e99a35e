"""Whether a rule or a method is recommended, by what was written down before."""

from __future__ import annotations

from collections.abc import Sequence

from fedsemi.evidence.effects import Effect
from fedsemi.evidence.stopping import WORTH


def verdict_of(gains: Sequence[Effect], losses: Sequence[Effect]) -> str:
    """Say whether something is recommended, or what is missing, or what speaks against.

    One difference that is complete is enough to speak against it. A loss does if its
    whole interval is one; a wide one says little.

    Args:
        gains: Differences that must be above zero.
        losses: Those that must not be below zero by what matters.
    """
    every = (*gains, *losses)
    if not any(each.seeds for each in every):
        return "not run"
    missing = [each for each in every if each.seeds < each.planned]
    failed = [each for each in gains if not _above(each)]
    failed += [each for each in losses if _below(each)]
    if against := [each.what for each in failed if each not in missing]:
        return f"not recommended, because of {'; '.join(against)}"
    if missing:
        return f"not judged yet, {len(missing)} of {len(every)} differences lack seeds"
    return "recommended"


def _above(effect: Effect) -> bool:
    test = effect.test
    return test is not None and test.low is not None and test.low > 0


def _below(effect: Effect) -> bool:
    test = effect.test
    return test is not None and test.high is not None and test.high < -WORTH
