"""Records say whether the guard was on; what it cut is counted by hand here."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.evidence.guarding import cut_rounds, guard_caption

LABELED = {"num_labeled": 5, "num_unlabeled": 0}
OTHER = {"num_labeled": 0, "num_unlabeled": 5}


def record(
    *shares: tuple[float | None, float | None],
    guard: bool = True,
    method: str = "semianagg",
    rule: str = "paper",
    clients: int = 3,
) -> dict[str, Any]:
    """Make rounds in which two unlabeled clients have these shares."""
    stage = {"method": method, "rule": rule, "labeled_share": 0.5}
    columns = zip(*shares, strict=True)
    return {
        "dataset": "isic18",
        "config": {"guard": {"enabled": guard}, "stages": [stage]},
        "clients": {"contribution": {str(i): list(c) for i, c in enumerate(columns)}},
        "owns": {str(i): LABELED if i == 2 else OTHER for i in range(clients)},
    }


def test_a_round_whose_shares_leave_something_over_was_cut() -> None:
    # 0.3 + 0.2 is the whole unlabeled half; 0.3 + 0.1 leaves a tenth of the mean.
    assert cut_rounds(record((0.3, 0.2), (0.3, 0.1), (0.5, None))) == (1, 3)


def test_a_round_without_pseudo_labels_was_not_cut() -> None:
    assert cut_rounds(record((0.0, 0.0), (0.25, 0.25))) == (0, 2)


def test_rounding_to_four_digits_is_no_cut() -> None:
    assert cut_rounds(record((0.3333, 0.1666))) == (0, 1)


def test_shares_of_clients_with_both_parts_sum_to_one() -> None:
    assert cut_rounds(record((0.6, 0.4), (0.5, 0.3), clients=2)) == (1, 2)


def cut(round: int, code: str, stage: int = 0) -> dict[str, Any]:
    return {"stage": stage, "round": round, "client": 1, "code": code, "part": 0.5}


def test_a_record_that_names_its_cuts_is_taken_at_its_word() -> None:
    made = record((0.3, 0.1), (0.3, 0.2))  # by what is left over, one of two
    made["config"]["stages"][0]["rounds"] = 8
    assert cut_rounds({**made, "cuts": []}) == (0, 8)
    shares = [cut(2, "FS2109"), cut(2, "FS2140"), cut(5, "FS2142")]
    assert cut_rounds({**made, "cuts": shares}) == (2, 8)
    others = [cut(3, "FS2107"), cut(4, "FS2109", stage=1)]  # a step, and a warm-up's
    assert cut_rounds({**made, "cuts": [*shares, *others]}) == (2, 8)


@pytest.mark.parametrize(
    "other", [{"rule": "released"}, {"method": "uniform-semi"}], ids=str
)
def test_only_the_shares_of_eq_4_are_counted(other: dict[str, str]) -> None:
    assert cut_rounds(record((0.1, 0.1), **other)) == (0, 0)  # type: ignore[arg-type]


def test_a_caption_says_that_the_guard_was_on_and_what_it_cut() -> None:
    told = guard_caption([record((0.3, 0.2), (0.3, 0.1)), record((0.3, 0.2))])
    assert "guard on," in told and "isic18 1 of 3" in told and "not cited" in told


def test_a_caption_says_how_many_runs_were_guarded() -> None:
    both = [record((0.3, 0.1)), record((0.3, 0.2), guard=False)]
    assert "guard on (1 of 2 runs)" in guard_caption(both)


def test_a_caption_says_that_the_guard_was_off() -> None:
    assert guard_caption([record((0.3, 0.2), guard=False)]).startswith("Guard off")
    assert guard_caption([]) == ""
