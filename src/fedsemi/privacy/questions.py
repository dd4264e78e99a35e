"""Whom a server asks next in a masked round, what each is told, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fedsemi.privacy.letters import Consent, Letter
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.steps import Step
from fedsemi.state import GroupSum


def asked(session: SumSession, step: Step) -> dict[int, Letter]:
    """Say who is asked, and what each is told; the first step needs no session."""
    if step.name == "shares":
        return {advert.site: session.roster for advert in session.roster.adverts}
    if step.name == "claims":
        return {id: session.envelopes_for(id) for id in session.among["claims"]}
    if step.name == "model":
        return _told_account(session)
    if step.answer is Consent:
        survivors = session.survivors_of(step.phase)
        return dict.fromkeys(session.heard[step.phase], survivors)
    consents = session.consents[step.phase]
    return dict.fromkeys(consents.signatures, consents)


def _told_account(session: SumSession) -> dict[int, Letter]:
    """Tell how the sum of claims came about, and with whom a site sums its step.

    In groups only those are asked who have seen that the others agree on the set.
    """
    grouped, deal = session.rules.grouped, session.deal("model")
    ids = session.helped if grouped else session.consents["claims"].signatures
    return {
        id: session.account.model_copy(update={"group": deal.of_site(id)}) for id in ids
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
