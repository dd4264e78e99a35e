"""Shares that sites find from sums are those that a server finds from all updates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import DIVERSITY, Update
from fedsemi.methods.cbafed import CBAFed
from fedsemi.methods.fedavg import FedAvg, FedAvgSemi, UniformSemi
from fedsemi.methods.isofed import IsoFed
from fedsemi.methods.permuted import PermutedSemi
from fedsemi.methods.rscfed import RSCFed
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.privacy.model_sum import check_own_sums
from fedsemi.sums import Sums

CLASSES = 3
SETUP: Any = SimpleNamespace(model=SimpleNamespace(num_classes=CLASSES))
METHODS = (
    FedAvg(SETUP),
    FedAvgSemi(SETUP),
    FedAvgSemi(SETUP, labeled_share=0.9, labeled_share_end=0.1, ramp_rounds=10),
    UniformSemi(SETUP, labeled_share=0.3),
    SemiAnAgg(SETUP),
    SemiAnAgg(SETUP, rule="presence"),
)


@st.composite
def _updates(draw: Any) -> list[Update]:
    updates = []
    for client in range(draw(st.integers(1, 6))):
        labeled, unlabeled = draw(st.integers(0, 9)), draw(st.integers(0, 9))
        pseudo = draw(st.integers(0, unlabeled))
        claims = st.sampled_from([0.0, 0.125, 0.5, 1.0, 1.75])
        r = draw(st.lists(claims, min_size=CLASSES, max_size=CLASSES))
        told = {DIVERSITY: torch.tensor(r)} if unlabeled else {}
        updates.append(Update(client, 4, {}, labeled, unlabeled, pseudo, told))
    return updates


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@settings(deadline=None)
@given(updates=_updates())
def test_a_site_finds_its_share_from_the_sums(
    method: Any, updates: list[Update]
) -> None:
    sums = method.as_sums()
    claims = [sums.claims(update) for update in updates]
    totals = torch.stack(claims).sum(0)
    num = len(updates)
    found = [sums.share(own, totals, updates[0].round, num) for own in claims]
    assert found == pytest.approx(method.contributions(updates).tolist(), abs=1e-12)
    assert len(totals) == sums.num_claims


def test_labels_alone_are_summed_by_their_number() -> None:
    sums = SupervisedFedAvg(SETUP).as_sums()
    own = sums.claims(Update(0, 0, {}, 3, 5, 2))
    assert sums.share(own, torch.tensor([12.0], dtype=torch.float64), 0, 3) == 0.25


@pytest.mark.parametrize(
    "totals",
    [
        [1.0, 0.5],
        [0.5, 9.0],
        [float("nan"), 1.0],
        [float("inf"), 1.0],
        [1.0],
        [1.0, 10.5],  # of five sites that claim at most two each
    ],
)
def test_sums_that_cannot_be_are_refused(totals: list[float]) -> None:
    own, sums = torch.tensor([1.0, 1.0]), Sums(lambda _: 1.0, num_unlabeled=1, most=2.0)
    assert sums.share(own, torch.tensor([4.0, 10.0]), 0, 5) == 0.25
    with pytest.raises(ProtocolError, match="FS6009"):
        sums.share(own, torch.tensor(totals), 0, 5)


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (CBAFed(SETUP), "class counts of the labeled sites alone"),
        (SemiAnAgg(SETUP, rule="released"), "rule = 'paper'"),
        (SemiAnAgg(SETUP, sharpness=2.0), "sharpness"),
        (RSCFed(SETUP), "one by one"),
        (IsoFed(SETUP), "one by one"),
    ],
)
def test_a_method_that_is_no_sum_says_why(method: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=f"FS6002.*{why}"):
        method.as_sums()


def test_who_changes_the_shares_of_another_method_must_say_how_they_are_sums() -> None:
    for method in METHODS:
        check_own_sums(method)
    with pytest.raises(ConfigError, match=r"FS6002 permuted-semi.*contributions"):
        check_own_sums(PermutedSemi(SETUP))
