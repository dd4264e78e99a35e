"""The guard: what one client may take, whatever it sends; and what honest ones keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest
import torch
from benchmarks.claims import honest_matrix
from hypothesis import strategies as st

from fedsemi.contributions import Rule, by_diversity, diversity_weights
from fedsemi.messages import DIVERSITY, ClientInfo, Task, Update
from fedsemi.server.guard import Guard, Ruling
from fedsemi.server.guard_state import EARNED, Evidence
from fedsemi.server.replies import Reply, step_length
from fedsemi.state import GuardState

ON = Guard(enabled=True)
START = {"x": torch.zeros(4)}
Accuracy = tuple[float, int] | None


def reply(
    client: int,
    step: float,
    labeled: int = 0,
    diversity: Sequence[float] = (0.3, 0.3),
    round: int = 0,
) -> Reply:
    """Answer with a step of that length."""
    info = ClientInfo(client, labeled, 0 if labeled else 40)
    task = Task(client, round, START)
    update = Update(
        client,
        round,
        {"x": torch.tensor([step, 0.0, 0.0, 0.0])},
        info.num_labeled,
        info.num_unlabeled,
        info.num_unlabeled // 2,
        {} if labeled else {DIVERSITY: torch.tensor(diversity, dtype=torch.double)},
    )
    return Reply(update, task, info, step, inflated=False)


def lengths(ruling: Ruling) -> list[float]:
    return [step_length(r.update.weights, START) for r in ruling.replies]


def codes(ruling: Ruling) -> list[tuple[int | None, str]]:
    return [(notice.client, notice.code) for notice in ruling.notices]


def test_among_three_sites_the_labeled_one_has_a_vote_on_steps() -> None:
    # One labeled, two unlabeled: the median of (0.5, 2, 1e30) is 2, the limit 2.5.
    sites = [reply(0, 0.5, labeled=9), reply(1, 2.0), reply(2, 1e30)]
    ruling = ON.rule(sites, GuardState(), Evidence())
    assert lengths(ruling) == pytest.approx([0.5, 2.0, 2.5])
    assert codes(ruling) == [(2, "FS2107")]


def test_of_two_sites_the_unlabeled_one_is_held_against_the_labeled_one() -> None:
    # Nobody else to compare with: ten of the labeled site's steps.
    ruling = ON.rule(
        [reply(0, 0.5, labeled=9), reply(1, 1e4)], GuardState(), Evidence()
    )
    assert lengths(ruling) == pytest.approx([0.5, 5.0])


def test_labeled_sites_that_are_not_asked_vote_with_their_last_step() -> None:
    state = GuardState(labeled_steps=(0.8,))
    ruling = ON.rule([reply(1, 2.0), reply(2, 1e30)], state, Evidence())
    assert lengths(ruling) == pytest.approx([2.0, 2.5])  # median of 0.8, 2 and 1e30


def test_a_majority_cannot_jump_away_from_history_and_labels() -> None:
    # Four of six conspire, so that the median of the round is theirs.
    sites = [reply(0, 1.0, labeled=9), reply(1, 1.0), reply(2, 1.0)]
    sites += [reply(id, 1e6) for id in range(3, 7)]
    ruling = ON.rule(sites, GuardState(steps=(1.0,) * 5), Evidence())
    assert max(lengths(ruling)) == pytest.approx(10.0)


def test_the_only_labeled_client_is_trusted_with_any_step() -> None:
    sites = [reply(0, 100.0, labeled=9), reply(1, 1.0), reply(2, 1.0), reply(3, 1.0)]
    ruling = ON.rule(sites, GuardState(), Evidence())
    assert lengths(ruling)[0] == 100 and not ruling.notices


def test_a_client_that_did_not_move_starves_nobody() -> None:
    sites = [reply(0, 0.5, labeled=9), reply(1, 2.0), reply(2, 0.0)]
    assert lengths(ON.rule(sites, GuardState(), Evidence())) == [0.5, 2.0, 0.0]


def test_where_most_stand_still_nobody_moves_the_model() -> None:
    # Orchestra's first round fills memories: an honest site has no step at all.
    sites = [reply(0, 0.0, labeled=9), reply(1, 0.0), reply(2, 1e30)]
    assert lengths(ON.rule(sites, GuardState(), Evidence())) == [0, 0, 0]


def test_a_client_of_several_groups_has_one_vote() -> None:
    sites = [reply(0, 0.5, labeled=9), reply(1, 2.0), *[reply(2, 1e30)] * 5]
    assert max(lengths(ON.rule(sites, GuardState(), Evidence()))) == pytest.approx(2.5)


@pytest.mark.parametrize("step", [1e38, 3e38 / 4])
def test_the_largest_numbers_become_a_finite_step(step: float) -> None:
    sites = [reply(0, 0.5, labeled=9), reply(1, 2.0), reply(2, step)]
    ruling = ON.rule(sites, GuardState(), Evidence())
    assert lengths(ruling)[2] == pytest.approx(2.5, rel=0.01)


SEMI = Evidence(by_diversity)
LONELY = [[0.3, 0.0, 0.0]] * 8 + [[0.0, 0.3, 0.3]]
"""Nine unlabeled clients; the last one alone has two of the three classes.

Eq. 4 gives it two thirds of the unlabeled half, the cap two ninths."""


def federation(rows: Sequence[Sequence[float]], round: int = 0) -> list[Reply]:
    sites = [reply(id, 1.0, 0, row, round) for id, row in enumerate(rows, start=1)]
    return [reply(0, 1.0, labeled=9, round=round), *sites]


def rule_rounds(found: Sequence[Accuracy], rows: Any = LONELY) -> list[Ruling]:
    """Let labeled sites report these accuracies, round by round."""
    state, rulings = GuardState(), []
    for round, each in enumerate(found):
        evidence = replace(SEMI, held_out=lambda _, each=each: each)
        rulings.append(ON.rule(federation(rows, round), state, evidence))
        state = rulings[-1].state
    return rulings


def test_a_lonely_share_begins_at_two_fair_shares() -> None:
    (ruling,) = rule_rounds([None])
    # Of the share 2/3 the cap of 2/9 leaves a third, as a step of a third.
    assert ruling.kept == {9: pytest.approx(1 / 3)}
    assert lengths(ruling)[9] == pytest.approx(1 / 3)
    assert codes(ruling) == [(9, "FS2109")]


def test_held_out_labels_that_bear_it_out_lift_the_cap_to_the_whole_share() -> None:
    rulings = rule_rounds([(0.7, 500)] * 5)
    kept = [ruling.kept.get(9, 1.0) for ruling in rulings]
    assert kept == pytest.approx([1 / 3, EARNED / 3, EARNED**2 / 3, 1, 1])
    assert not rulings[-1].notices


def test_without_held_out_labels_no_trust_is_earned() -> None:
    assert [ruling.kept for ruling in rule_rounds([None] * 4)] == [
        {9: pytest.approx(1 / 3)}
    ] * 4


def test_three_peers_with_its_classes_bear_out_a_share_at_once() -> None:
    # Twenty sites; three of them hold half of the classes: a sixth each, while two
    # fair shares are a tenth.
    rows = [[0.3, 0.0]] * 17 + [[0.0, 0.3]] * 3
    (ruling,) = rule_rounds([None], rows)
    assert not ruling.kept and not ruling.notices


def test_two_that_conspire_do_not_confirm_each_other() -> None:
    rows = [[0.3, 0.0]] * 18 + [[0.0, 1.0]] * 2
    (ruling,) = rule_rounds([None], rows)
    assert set(ruling.kept) == {19, 20}


def test_a_model_that_is_worse_costs_all_trust_and_half_of_the_steps() -> None:
    rulings = rule_rounds([(0.7, 500), (0.7, 500), (0.6, 500), (0.7, 500)])
    assert [ruling.verdict for ruling in rulings] == ["best", "best", "worse", "best"]
    assert codes(rulings[2]) == [(None, "FS2141")]
    assert not rulings[2].state.trust and rulings[2].state.caution == 0.5
    # 0.5 * 1.25 of every unlabeled step, and of the lonely one a third of that.
    assert lengths(rulings[3])[:2] == pytest.approx([1, 0.625])
    assert lengths(rulings[3])[9] == pytest.approx(0.625 / 3)
    assert (None, "FS2142") in codes(rulings[3])


def test_a_fall_within_three_standard_errors_is_borne() -> None:
    # 40 images at 0.8: a standard error of 0.06, so 0.1 may be chance; not with 1,000.
    few = rule_rounds([(0.85, 40), (0.75, 40)])
    many = rule_rounds([(0.85, 1000), (0.75, 1000)])
    assert (few[1].verdict, many[1].verdict) == (None, "worse")


def test_slow_drift_is_held_against_the_best_model_not_the_last_one() -> None:
    found = [(0.9 - 0.02 * round, 1000) for round in range(5)]
    verdicts = [ruling.verdict for ruling in rule_rounds(found)]
    assert verdicts == ["best", None, None, "worse", "worse"]


def test_only_clients_with_labels_have_a_say_on_a_model() -> None:
    heard: list[int] = []

    def held_out(updates: Sequence[Update]) -> None:
        heard.extend(update.client for update in updates)

    ON.rule(federation(LONELY), GuardState(), Evidence(held_out=held_out))
    assert heard == [0]


def test_a_disabled_guard_changes_nothing_at_all() -> None:
    sites = [reply(0, 0.5, labeled=9), reply(1, 2.0), reply(2, 1e30)]
    state, worse = GuardState(best=0.9), Evidence(by_diversity, lambda _: (0.1, 999))
    ruling = Guard(enabled=False).rule(sites, state, worse)
    assert ruling.replies is sites and ruling == Ruling(sites, state)


def kept_shares(matrix: torch.Tensor, rule: Rule = "paper") -> torch.Tensor:
    """Return what the guard leaves of the unlabeled shares [K]."""

    def shares(updates: Sequence[Update]) -> torch.Tensor:
        return by_diversity(updates, 0.0, rule)

    sites = [reply(id, 1.0, 0, row) for id, row in enumerate(matrix.tolist())]
    ruling = ON.rule(sites, GuardState(), Evidence(shares))
    free = shares([each.update for each in ruling.replies])
    parts = [ruling.kept.get(id, 1.0) for id in range(len(sites))]
    return free * torch.tensor(parts, dtype=torch.double)


@st.composite
def matrices(draw: st.DrawFn) -> torch.Tensor:
    """Claims that the gate lets pass: from 0 to 1, also the smallest numbers."""
    values = st.one_of(st.sampled_from([0.0, 5e-324, 1e-310, 1.0]), st.floats(0, 1))
    clients, classes = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    size = clients * classes
    drawn = draw(st.lists(values, min_size=size, max_size=size))
    return torch.tensor(drawn, dtype=torch.double).reshape(clients, classes)


def check_cap(matrix: torch.Tensor, rule: Literal["paper", "released"]) -> None:
    shares = kept_shares(matrix, rule)
    assert torch.isfinite(shares).all() and shares.min() >= 0
    assert shares.sum() <= 1 + 1e-6
    # A claim in a class of less than three gets no more than the cap; one that three
    # have is bounded by what they have, cut at three sigma.
    classes = (matrix > 0).sum(0)
    if len(matrix) >= 3 and not (classes >= 3).any():
        claiming = int((matrix > 0).any(1).sum())
        assert shares.max() <= 2 / max(claiming, 3) + 1e-9


BC3 = "BC-3 claims of any kind, no share above the cap"
RULES = st.sampled_from(["paper", "released"])


def test_no_claims_lift_an_unconfirmed_share_above_the_cap(tried_on: Any) -> None:
    tried_on(BC3, 300, check_cap, matrices(), RULES)


@pytest.mark.slow
def test_none_of_ten_thousand_matrices_lifts_a_share_above_the_cap(
    tried_on: Any,
) -> None:
    tried_on(BC3, 10_000, check_cap, matrices(), RULES)


@pytest.mark.parametrize(("clients", "classes"), [(9, 10), (4, 7), (2, 10)])
def test_honest_clients_hardly_notice_the_guard(clients: int, classes: int) -> None:
    changes = []
    for seed in range(100):
        matrix = honest_matrix(clients, classes, seed)
        changes.append((kept_shares(matrix) - diversity_weights(matrix)).abs().sum())
    assert torch.stack(changes).mean() <= 0.002


def test_a_lie_about_classes_that_others_have_gets_about_two_fair_shares() -> None:
    free, held = [], []
    for seed in range(100):
        matrix = honest_matrix(9, 10, seed)
        matrix[0] = 1.0
        free.append(diversity_weights(matrix)[0])
        held.append(kept_shares(matrix)[0])
    assert torch.stack(free).mean() > 0.25
    assert torch.stack(held).mean() <= 0.21
    assert torch.stack(held).max() <= 0.25  # two fair shares are 0.222


def test_the_released_rule_caps_itself() -> None:
    matrix = honest_matrix(9, 10, 0)
    matrix[0] = 1.0  # similarity zero in every class
    assert diversity_weights(matrix, "released")[0] <= 1 / 8 + 1e-9


def test_what_is_measured_is_bounded_by_peers_and_leaves_no_memory() -> None:
    # Steps that learn were tiny; statistics of a new model are far from the old ones.
    learned = GuardState(steps=(0.01,) * 5, labeled_steps=(0.01,) * 5)
    sites = [reply(0, 3.0, labeled=9), *(reply(id, 2.0) for id in (1, 2, 3))]
    far = reply(4, 1e6)
    ruling = ON.rule_measured([*sites, far], learned, Evidence())
    assert lengths(ruling)[:4] == pytest.approx([3.0, 2.0, 2.0, 2.0])
    assert lengths(ruling)[4] == pytest.approx(2.0 * ON.norm_limit)
    assert codes(ruling) == [(4, "FS2107")]
    assert ruling.state == learned and ruling.verdict is None
    off = Guard().rule_measured([*sites, far], learned, Evidence())
    assert lengths(off)[4] == pytest.approx(1e6) and not off.notices
