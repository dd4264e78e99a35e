from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fedsemi.contributions import (
    Rule,
    by_data_size,
    by_diversity,
    by_supervision,
    diversity_weights,
    permuted,
    sharpened,
    uniform,
)
from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY, Update

Make = Callable[..., Update]
GOLDEN = torch.tensor([[0.2, 0.4, 1.0], [0.4, 0.4, 0.5], [0.3, 1.0, 1.0]])
"""Similarities of three clients (rows) for three classes; 1 stands for no sample."""

similarities = arrays(
    "float64", st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.floats(0, 1)
)


def unlabeled(make: Make, client: int, diversity: list[float], **fields: int) -> Update:
    statistics = {DIVERSITY: torch.tensor(diversity)}
    return make(client, num_unlabeled=10, statistics=statistics, **fields)


def test_presence_counts_who_shows_a_class_and_nothing_else() -> None:
    # Class 0 is shown by all three, class 1 by two, class 2 by the second alone:
    # 1/3 + 1/2, 1/3 + 1/2 + 1 and 1/3, over three classes.
    shares = diversity_weights(1 - GOLDEN, "presence")
    assert shares.tolist() == pytest.approx([5 / 18, 11 / 18, 2 / 18])
    nearly_same = diversity_weights((1 - GOLDEN).clamp(max=0.1), "presence")
    assert nearly_same.tolist() == pytest.approx(shares.tolist())


def test_sharpness_moves_shares_between_equal_and_beyond_the_rule() -> None:
    shares = torch.tensor([0.2, 0.0, 0.1, 0.1])
    assert sharpened(shares, 1.0) is shares
    # Powers .04, .01, .01 of a sum of .06, scaled to the old sum of .4.
    found = sharpened(shares, 2.0).tolist()
    assert found == pytest.approx([0.4 * 4 / 6, 0, 0.4 / 6, 0.4 / 6])
    assert sharpened(shares, 0.0).tolist() == pytest.approx(
        [0.4 / 3, 0, 0.4 / 3, 0.4 / 3]
    )


def test_fedavg_weighs_by_labels_and_pseudo_labels(make_update: Make) -> None:
    updates = [make_update(0, num_labeled=30), make_update(1, num_pseudo=10)]
    assert by_data_size(updates).tolist() == [0.75, 0.25]


def test_fedavg_semi_gives_each_kind_of_data_its_half(make_update: Make) -> None:
    # Eq. 2 by hand: labeled 100 of 100; pseudo-labels 30 and 10 of 40.
    updates = [
        make_update(0, num_labeled=100),
        make_update(1, num_unlabeled=50, num_pseudo=30),
        make_update(2, num_unlabeled=50, num_pseudo=10),
    ]
    assert by_supervision(updates).tolist() == [0.5, 0.375, 0.125]


def test_a_partially_labeled_client_takes_part_in_both_sums(make_update: Make) -> None:
    updates = [
        make_update(0, num_labeled=10, num_unlabeled=90, num_pseudo=30),
        make_update(1, num_labeled=30, num_unlabeled=90, num_pseudo=10),
    ]
    # 0.5 * 10/40 + 0.5 * 30/40 and 0.5 * 30/40 + 0.5 * 10/40
    assert by_supervision(updates).tolist() == [0.5, 0.5]
    assert by_supervision(updates, labeled_share=1.0).tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("paper", [0.293651, 0.595238, 0.111111]),
        ("released", [0.359259, 0.355556, 0.285185]),
    ],
)
def test_semianagg_matches_the_golden_values(rule: Rule, expected: list[float]) -> None:
    found = diversity_weights(1 - GOLDEN.double(), rule)
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def test_semianagg_by_hand(make_update: Make) -> None:
    # Class 0: 0.6 and 0.2, normalized 3/4 and 1/4. Class 1: 0.1 and 0.1, halves.
    # Sums 1.25 and 0.75 of 2: 0.625 and 0.375 of the unlabeled half.
    updates = [
        make_update(0, num_labeled=5),
        unlabeled(make_update, 1, [0.6, 0.1]),
        unlabeled(make_update, 2, [0.2, 0.1]),
    ]
    expected = pytest.approx([0.5, 0.3125, 0.1875], abs=1e-7)
    assert by_diversity(updates).tolist() == expected


def test_absent_pseudo_class_adds_nothing() -> None:
    with_class = torch.tensor([[0.3, 0.0], [0.1, 0.0]]).double()
    assert diversity_weights(with_class).tolist() == pytest.approx([0.75, 0.25])


def test_client_without_pseudo_labels_gets_no_unlabeled_share(
    make_update: Make,
) -> None:
    updates = [
        make_update(0, num_labeled=5),
        unlabeled(make_update, 1, [0.0, 0.0]),
        unlabeled(make_update, 2, [0.2, 0.1]),
    ]
    assert by_diversity(updates).tolist() == [0.5, 0.0, 0.5]


def test_released_rule_keeps_a_client_that_selected_nothing(make_update: Make) -> None:
    updates = [
        make_update(0, num_labeled=5),
        unlabeled(make_update, 1, [0.0, 0.0]),
        unlabeled(make_update, 2, [0.5, 0.5]),
        unlabeled(make_update, 3, [0.5, 0.5]),
    ]
    shares = by_diversity(updates, rule="released").tolist()
    # Similarity shares 1/2, 1/4, 1/4 in both classes: 1/4, 3/8, 3/8 of the half.
    assert shares == pytest.approx([0.5, 0.125, 0.1875, 0.1875])


@pytest.mark.parametrize("rule", ["paper", "released"])
def test_labeled_clients_get_everything_if_nobody_selected(
    make_update: Make, rule: Rule
) -> None:
    updates = [
        make_update(0, num_labeled=5),
        unlabeled(make_update, 1, [0.0, 0.0]),
        unlabeled(make_update, 2, [0.0, 0.0]),
    ]
    assert by_diversity(updates, rule=rule).tolist() == [1.0, 0.0, 0.0]


def test_unlabeled_clients_get_everything_if_no_labeled_one_answered(
    make_update: Make,
) -> None:
    updates = [unlabeled(make_update, 1, [0.3]), unlabeled(make_update, 2, [0.1])]
    assert by_diversity(updates).tolist() == pytest.approx([0.75, 0.25])


def test_nobody_with_anything_leaves_all_shares_at_zero(make_update: Make) -> None:
    assert by_data_size([make_update(0), make_update(1)]).tolist() == [0.0, 0.0]


def test_uniform_pays_no_heed_to_size(make_update: Make) -> None:
    updates = [
        make_update(0, num_labeled=5),
        make_update(1, num_unlabeled=1000, num_pseudo=900),
        make_update(2, num_unlabeled=10, num_pseudo=1),
        make_update(3),
    ]
    assert uniform(updates).tolist() == [0.5, 0.25, 0.25, 0.0]


def test_permuted_shares_are_the_same_numbers_on_other_clients(
    make_update: Make,
) -> None:
    values = [0.1, 0.2, 0.3, 0.4, 0.5]
    updates = [
        make_update(0, num_labeled=5),
        *(unlabeled(make_update, i + 1, [v]) for i, v in enumerate(values)),
    ]
    right, wrong = by_diversity(updates), permuted(updates, seed=1)
    assert wrong[0] == right[0]
    assert sorted(wrong.tolist()) == pytest.approx(sorted(right.tolist()))
    assert wrong.tolist() != right.tolist()


def test_permuted_shares_are_sharpened_as_those_that_they_are_made_of(
    make_update: Make,
) -> None:
    updates = [
        make_update(0, num_labeled=5),
        *(unlabeled(make_update, i + 1, [0.1 * (i + 1)]) for i in range(5)),
    ]
    plain = permuted(updates, seed=1)
    right, wrong = (
        by_diversity(updates, sharpness=2.0),
        permuted(updates, seed=1, sharpness=2.0),
    )
    assert sorted(wrong.tolist()) == pytest.approx(sorted(right.tolist()))
    assert wrong.argsort().tolist() == plain.argsort().tolist(), "the same order"
    assert permuted(updates, seed=1, sharpness=1.0).tolist() == plain.tolist()


def test_permutation_changes_from_round_to_round(make_update: Make) -> None:
    def shares(round: int) -> list[float]:
        updates = [
            unlabeled(make_update, i, [0.1 * (i + 1)], round=round) for i in range(6)
        ]
        return permuted(updates, seed=1).tolist()

    assert shares(0) == shares(0) != shares(1)


def test_a_missing_statistic_is_reported_with_its_client(make_update: Make) -> None:
    with pytest.raises(ProtocolError, match=r"client 3 did not send .*'diversity'"):
        by_diversity([make_update(3, num_unlabeled=5)])


@given(similarities, st.sampled_from(["paper", "released"]))
def test_shares_sum_to_one_unless_nobody_is_diverse(
    similarity: object, rule: Rule
) -> None:
    diversity = 1 - torch.from_numpy(similarity)
    shares = diversity_weights(diversity, rule)
    assert (shares >= -1e-12).all()
    assert float(shares.sum()) == pytest.approx(1.0 if diversity.any() else 0.0)


@given(similarities)
def test_released_shares_are_bounded_by_one_over_the_others(similarity: object) -> None:
    diversity = 1 - torch.from_numpy(similarity)
    shares = diversity_weights(diversity, "released")
    assert float(shares.max()) <= 1 / (len(diversity) - 1) + 1e-9


@given(similarities, st.sampled_from(["paper", "released"]), st.randoms())
def test_order_of_clients_does_not_matter(
    similarity: object, rule: Rule, random: object
) -> None:
    diversity = 1 - torch.from_numpy(similarity)
    order = list(range(len(diversity)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shares = diversity_weights(diversity, rule)[order]
    assert torch.allclose(shares, diversity_weights(diversity[order], rule))
