"""What the tables mean, in sentences that the numbers bear out."""

from __future__ import annotations

from fedsemi.leakage.words import NO_BETTER, sentences

from .made import cell, record, two_seeds


def test_it_is_said_what_the_server_tells_from_what() -> None:
    model, diversities, shares, members = sentences(two_seeds())
    assert model == (
        "semianagg: a server that sees a site's model update tells an owner of a class "
        "from a site without it 90% of the time (a guess: 50%); from a sum over 3, 10 "
        f"sites 70%, {NO_BETTER}; with noise {NO_BETTER}."
    )
    assert "sees a site's diversities r" in diversities
    assert diversities.endswith("; from presence bits 78%.")
    assert "20% of the images in a wrong class (who looks at nothing: 60%)" in shares
    assert "an image that was learned from" in members


def test_what_is_no_leak_is_called_so() -> None:
    (said,) = sentences([record(1, cell("classes", "plain", 0.5))])
    assert said.endswith(f"50% of the time (a guess: 50%), which is {NO_BETTER}.")


def test_sums_that_tell_nothing_are_said_so_once() -> None:
    sums = [cell("classes", f"sum of {n}", 0.5) for n in (3, 10)]
    (said,) = sentences([record(1, cell("classes", "plain", 0.9), *sums)])
    assert said.endswith(f"; from a sum over 3, 10 sites {NO_BETTER}.")


def test_counts_and_metrics_have_lines_in_the_table_and_no_sentence() -> None:
    assert sentences([record(1, cell("classes", "plain", 0.6, thing="counts"))]) == []
