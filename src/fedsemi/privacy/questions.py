"""Whom a server asks next in a masked round, what each is told, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fedsemi.privacy.letters import Consent, Dealt, Letter, Totals
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.steps import Step
from fedsemi.state import GroupSum


def asked(session: SumSession, step: Step, totals: Totals) -> dict[int, Letter]:
    """Say who is asked, and what each is told.

    Args:
        session: The sums as far as they have come.
        step: Which question it is; the first one needs no session.
        totals: What the claims came to, once they are opened.
    """
    if step.name == "shares":
        return {advert.site: session.roster for advert in session.roster.adverts}
    if step.name == "claims":
        return {id: session.envelopes_for(id) for id in session.among["claims"]}
    if step.name == "model":
        return _told_totals(session, totals)
    if step.answer is Consent:
        survivors = session.survivors_of(step.phase)
        return dict.fromkeys(session.heard[step.phase], survivors)
    consents = session.consents[step.phase]
    return dict.fromkeys(consents.signatures, consents)


def _told_totals(session: SumSession, totals: Totals) -> dict[int, Letter]:
    """Tell what the claims came to, and in groups with whom a site sums its step.

    There only those are asked who have seen that the others agree on the set.
    """
    if not session.rules.grouped:
        return dict.fromkeys(session.consents["claims"].signatures, totals)
    deal = session.deal("model")
    return {
        id: Dealt(text=totals.text, group=deal.of_site(id)) for id in session.helped
    }


def group_sums(
    session: SumSession, sums: Mapping[int, NDArray[np.float64]]
) -> tuple[GroupSum, ...]:
    """Take the numbers of each group apart: the steps, and last the shares."""
    deal, nothing = session.deal("model"), np.zeros(1)
    left = deal.left(session.survivors["model"])
    return tuple(
        GroupSum(group, left[place], numbers[:-1], float(numbers[-1]))
        for place, group in enumerate(deal.groups)
        for numbers in (sums.get(place, nothing),)
    )
