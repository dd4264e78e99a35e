"""Where shares act: lengths, parts and cosines worked by hand."""

from __future__ import annotations

import pytest
import torch

from fedsemi.valuation.update_space import group_of, mean_of, place_of

NAMES = frozenset({"encoder.stem.0.weight", "head.weight", "head.bias"})


def weights(
    stem: float, *rows: tuple[float, float], bias: tuple[float, float] = (0, 0)
):
    return {
        "encoder.stem.0.weight": torch.tensor([stem]),
        "encoder.stem.1.running_mean": torch.tensor([stem * 100]),
        "head.weight": torch.tensor(rows),
        "head.bias": torch.tensor(bias, dtype=torch.float32),
    }


START = weights(0.0, (0.0, 0.0), (0.0, 0.0))


@pytest.fixture
def updates(make_update):
    return [
        make_update(0, num_labeled=9, weights=weights(4.0, (3.0, 0.0), (0.0, 0.0))),
        make_update(1, num_unlabeled=9, weights=weights(0.0, (0.0, 0.0), (0.0, 1.0))),
    ]


def test_the_difference_is_split_by_layers_and_by_rows_of_the_head(updates):
    found = place_of(START, updates, (0.75, 0.25), (0.5, 0.5), NAMES)
    # Equal step: stem 2, head (1.5, 0), (0, .5).
    # Difference: stem 1, head (.75, 0), (0, −.25).
    assert found is not None
    total = 1 + 0.75**2 + 0.25**2
    assert found.moved["stem"] == pytest.approx(0.5)
    assert found.moved["head"] == pytest.approx(0.5)
    assert found.part["stem"] == pytest.approx(1 / total)
    assert sum(found.part.values()) == pytest.approx(1)
    assert found.classes == pytest.approx((0.9, 0.1))
    assert found.whole == pytest.approx(0.5) and found.most == "stem"


def test_more_weight_for_the_labeled_site_points_towards_its_step(updates):
    more = place_of(START, updates, (0.75, 0.25), (0.5, 0.5), NAMES)
    less = place_of(START, updates, (0.25, 0.75), (0.5, 0.5), NAMES)
    assert more is not None and less is not None
    # Difference (1, .75, −.25) and step (4, 3, 0): 6.25 / (√1.625 · 5).
    assert more.labeled_cosine == pytest.approx(6.25 / (1.625**0.5 * 5))
    assert less.labeled_cosine == pytest.approx(-more.labeled_cosine)


def test_where_all_or_none_have_labels_nobody_is_pointed_at(updates, make_update):
    unlabeled = [
        updates[1],
        make_update(2, num_unlabeled=9, weights=updates[0].weights),
    ]
    found = place_of(START, unlabeled, (0.75, 0.25), (0.5, 0.5), NAMES)
    assert found is not None and found.labeled_cosine is None


def test_equal_shares_act_nowhere(updates):
    assert place_of(START, updates, (0.5, 0.5), (0.5, 0.5), NAMES) is None
    assert mean_of([]) is None


def test_statistics_of_batch_norm_are_no_part_of_a_step(updates):
    found = place_of(START, updates, (0.75, 0.25), (0.5, 0.5), NAMES)
    assert found is not None and set(found.part) == {"stem", "head"}


def test_rounds_are_averaged(updates):
    one = place_of(START, updates, (0.75, 0.25), (0.5, 0.5), NAMES)
    two = place_of(START, updates, (0.25, 0.75), (0.5, 0.5), NAMES)
    assert one is not None and two is not None
    mean = mean_of([one, two])
    assert mean is not None and mean.labeled_cosine == pytest.approx(0)
    assert mean.whole == pytest.approx(0.5)
    assert mean.classes == pytest.approx((0.9, 0.1))


def test_layers_are_named_by_their_place():
    assert group_of("encoder.stem.0.weight") == "stem"
    assert group_of("encoder.stages.0.0.residual.0.weight") == "stage 1"
    assert group_of("weight") == "weight"
