"""Shares held against equal ones, with numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.simulation.build import Simulation, build
from fedsemi.valuation.weight_audit import (
    Audit,
    Row,
    audit,
    counted,
    equal_shares,
    r_squared,
    relative,
)


def rows(*shares: float) -> tuple[Row, ...]:
    """Clients with 10, 20, … images, of which all have confident pseudo-labels."""
    equal = sum(shares) / len(shares)
    return tuple(
        Row(2, k, share, equal, 1.0, 10.0 * (k + 1), 10.0 * (k + 1), "both")
        for k, share in enumerate(shares)
    )


def test_clients_of_a_kind_count_alike_and_a_kind_keeps_what_it_has(make_update):
    updates = [
        make_update(0, num_labeled=9),
        make_update(1, num_unlabeled=9),
        make_update(2, num_unlabeled=9),
        make_update(3, num_labeled=1, num_unlabeled=9),
    ]
    given = {0: 0.5, 1: 0.3, 2: 0.1, 3: 0.1}
    assert equal_shares(updates, given) == pytest.approx([0.5, 0.2, 0.2, 0.1])


def test_what_is_moved_is_half_of_all_gaps():
    # From (¼, ¼, ¼, ¼), .15 and .05 move up and .2 down.
    found = Audit("x", rows(0.4, 0.3, 0.2, 0.1), (0.9,), (0.8,))
    assert found.moved == pytest.approx(0.2)
    assert found.gain == pytest.approx(0.1)


def test_shares_by_size_are_wholly_explained_by_it_and_equal_ones_by_nothing():
    by_size = Audit("x", rows(0.1, 0.2, 0.3, 0.4), (0.5,), (0.5,))
    assert by_size.explained("size") == pytest.approx(1)
    assert by_size.ranked("size") == pytest.approx(1)
    assert by_size.ranked("presence") is None  # all show one class
    equal = Audit("x", rows(0.25, 0.25, 0.25, 0.25), (0.5,), (0.5,))
    assert equal.moved == 0 and equal.explained("size") is None
    assert equal.ranked("size") is None


def by(fact: str, *rounds: tuple[float, ...], kind: str = "unlabeled") -> list[Row]:
    """Rounds in which 0.8 is shared out by these counts or sizes; the rest is alike."""
    return [
        Row(
            number,
            client,
            0.8 * value / sum(values),
            0.8 / len(values),
            **{"presence": 3.0, "counts": 50.0, "size": 50.0, fact: value},
            kind=kind,
        )
        for number, values in enumerate(rounds, 2)
        for client, value in enumerate(values, 1)
    ]


def audited(rows: list[Row]) -> Audit:
    return Audit("x", tuple(rows), (0.5, 0.5), (0.5, 0.5))


LONE = [Row(k, 0, 0.2, 0.2, 0.0, 200.0, 200.0, "labeled") for k in (2, 3)]


@pytest.mark.parametrize("fact", ["counts", "size"])
def test_shares_by_a_number_are_wholly_explained_by_it_whatever_the_totals(fact):
    # 30 images are half of 60 in one round, and 100 only a ninth of 900 in the other.
    found = audited(by(fact, (10, 20, 30), (100, 300, 500)))
    assert found.explained(fact) == pytest.approx(1)
    assert found.ranked(fact) == pytest.approx(1)
    assert found.rising(fact)
    other = {"counts": "size", "size": "counts"}[fact]
    assert found.explained(other) == pytest.approx(0, abs=1e-9)
    assert found.ranked(other) is None


def test_each_number_is_measured_in_means_of_its_round_and_kind():
    rows = by("counts", (10, 30)) + by("counts", (100, 100, 400), kind="both")
    assert [each.counts for each in relative(rows)] == [0.5, 1.5, 0.5, 0.5, 2]
    assert [each.share for each in relative(rows)] == pytest.approx(
        [0.5, 1.5, 0.5, 0.5, 2]
    )
    assert {each.size for each in relative(rows)} == {1}


def test_a_lone_labeled_site_changes_nothing():
    # Its share is equal to itself and it shows no pseudo-class, whatever others do.
    rows = by("counts", (10, 20, 30), (100, 300, 500))
    rows[0] = replace(rows[0], presence=1.0)
    alone, beside = audited(rows), audited(LONE + rows)
    for fact in ("presence", "counts", "size"):
        assert alone.explained(fact) == beside.explained(fact)
        assert alone.ranked(fact) == beside.ranked(fact)
    assert beside.explained("counts") == pytest.approx(1)


def test_where_each_is_the_only_one_of_its_kind_there_is_nothing_to_explain():
    found = audited(LONE)
    assert found.explained("size") is None and found.ranked("size") is None


def test_what_nobody_has_in_a_round_all_have_alike():
    # Without any count in a round, shares by counts are equal: 1 of 1 on the line.
    nobody = [replace(row, counts=0.0) for row in by("counts", (7, 7))]
    rows = nobody + [replace(row, round=3) for row in by("counts", (10, 30))]
    assert [each.counts for each in relative(rows)] == [1, 1, 0.5, 1.5]
    assert audited(rows).explained("counts") == pytest.approx(1)


def test_shares_that_fall_with_a_number_are_explained_and_not_rising():
    # 0.6, 0.2 and 0.0 for 10, 20 and 25 images: 0.04 less for each one more.
    given = zip((0.6, 0.2, 0.0), (10.0, 20.0, 25.0), strict=True)
    rows = [
        Row(2, k, s, 0.8 / 3, 1.0, 5.0, n, "unlabeled")
        for k, (s, n) in enumerate(given)
    ]
    found = audited(rows)
    assert found.explained("size") == pytest.approx(1)
    assert found.ranked("size") == pytest.approx(-1) and not found.rising("size")


def test_r_squared_is_the_part_of_the_variance_that_a_line_explains():
    columns = np.array([[0.0], [0.0], [1.0], [1.0]])
    # Means 1 and 3 explain 4 of the 8 squares around 2.
    assert r_squared(columns, np.array([0.0, 2.0, 2.0, 4.0])) == pytest.approx(0.5)


def test_one_update_of_each_client_counts(make_update):
    def weights(x: float) -> dict[str, torch.Tensor]:
        return {"x": torch.tensor([x])}

    updates = [
        make_update(1, weights=weights(0.0)),
        make_update(1, weights=weights(4.0)),  # a later phase of the same round
        make_update(2, weights=weights(1.0), group=0),
        make_update(2, weights=weights(3.0), group=1),
        make_update(7, weights=weights(9.0)),
    ]
    found = counted(updates, {1: 0.5, 2: 0.5})
    assert [(u.client, float(u.weights["x"])) for u in found] == [(1, 4.0), (2, 2.0)]


def simulation_of(method: str, card: str = "LC", **settings: Any) -> Simulation:
    few = {"labels_per_class": 3} if card in ("LAC", "LS") else {}
    return build(
        make_experiment(
            {
                "data": {"name": "synthetic", "train_limit": 100, "test_limit": 40},
                "setting": {"card": card, **few},
                "partition": {"num_clients": 4, "min_size": 4},
                "model": {"name": "resnet8", "width": 2},
                "local": {"batch_size": 16},
                "stages": [{"method": method, "rounds": 1, **settings}],
            }
        )
    )


@pytest.mark.parametrize(
    ("method", "card", "settings"),
    [
        ("semianagg", "LC", {"learner": {"cutoff": 0.2}}),
        ("rscfed", "LC", {}),
        ("cbafed", "LC", {"labeled_epochs": 1}),
        ("feddb", "LAC", {"cutoff": 0.3, "shares": "exact"}),
        ("fl2", "LS", {}),
    ],
)
def test_any_method_that_weighs_sites_is_audited(method, card, settings):
    simulation = simulation_of(method, card, **settings)
    found = audit(simulation, simulation.initial_weights(), rounds=2)
    assert found.method == method and len(found.accuracy) == 2
    for round in (2, 3):  # in the first the method settles
        own = [row for row in found.rows if row.round == round]
        assert len({row.client for row in own}) == len(own) > 1
        assert sum(row.share for row in own) == pytest.approx(1)
        assert sum(row.equal for row in own) == pytest.approx(1)
    assert {row.round for row in found.rows} == {2, 3}
    assert 0 <= found.moved <= 1


def test_equal_shares_move_nothing_and_make_the_same_model():
    simulation = simulation_of("uniform-semi", learner={"cutoff": 0.2})
    found = audit(simulation, simulation.initial_weights(), rounds=1)
    assert found.moved == pytest.approx(0, abs=1e-12)
    assert found.accuracy == found.equal_accuracy


def test_a_method_that_gave_nobody_a_share_cannot_be_audited():
    simulation = simulation_of("semifl", "LS", cutoff=1.0)
    with pytest.raises(ConfigError, match="FS4502 semifl gave nobody a share"):
        audit(simulation, simulation.initial_weights(), rounds=1)
