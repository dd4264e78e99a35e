"""The figures: which runs each plot is drawn from."""

from __future__ import annotations

import re

import pytest

from fedsemi.evidence.figures import CATALOGUE, FIGURES


def test_tables_and_figures_are_one_catalogue_in_which_no_name_is_taken_twice() -> None:
    assert list(FIGURES) == [f"fig{number}" for number in range(1, 13)]
    assert all(CATALOGUE[name] is figure for name, figure in FIGURES.items())
    assert all(name == artifact.name for name, artifact in CATALOGUE.items())


@pytest.mark.parametrize(
    ("name", "dataset"), [("fig1", "svhn"), ("fig4", "svhn"), ("fig9", "isic18")]
)
def test_leaving_one_out_leaves_out_each_unlabeled_client_and_nobody_else(
    name: str, dataset: str
) -> None:
    (chart,) = [c for c in FIGURES[name].charts if c.kind == "leave-one-out"]
    whole, *rest = chart.settings
    assert (whole.dataset, whole.arm, whole.without) == (dataset, "semianagg", None)
    assert [each.without for each in rest] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_one_and_two_labeled_clients_are_the_same_methods() -> None:
    (chart,) = FIGURES["fig5"].charts
    one = [each.arm for each in chart.settings if not each.partition]
    two = [each.arm for each in chart.settings if each.partition]
    assert one == two == ["rscfed", "cbafed", "semianagg"]
    assert chart.settings[3].partition == (("labeled_clients", 2),)


def test_a_warm_up_without_labels_is_compared_method_by_method() -> None:
    labels, barlow = FIGURES["fig6"].charts
    assert [f"barlow-{each.arm}" for each in labels.settings] == [
        each.arm for each in barlow.settings
    ]


def test_the_long_tail_and_lesions_are_shown_by_balanced_accuracy() -> None:
    shown = {
        (chart.settings[0].dataset, chart.metric)
        for name in ("fig3", "fig8")
        for chart in FIGURES[name].charts
    }
    assert ("isic18", "balanced_accuracy") in shown
    assert ("svhn", "balanced_accuracy") not in shown


def test_partly_labeled_clients_have_a_tenth_of_their_labels() -> None:
    for chart in FIGURES["fig10"].charts:
        assert {each.partition for each in chart.settings} == {
            (("labeled_fraction", 0.1),)
        }


def test_every_plot_of_scores_names_its_metric() -> None:
    for name, figure in FIGURES.items():
        for chart in figure.charts:
            if chart.kind in ("curves", "bars", "leave-one-out"):
                before, metric, _ = re.split(
                    f"({chart.metric.replace('_', ' ')})", chart.title, flags=re.I
                )
                assert metric and not before.endswith("balanced "), name


def test_what_is_lost_without_a_client_is_by_the_score_that_decides() -> None:
    for name, metric in {"fig4": "accuracy", "fig9": "balanced_accuracy"}.items():
        (chart,) = [c for c in FIGURES[name].charts if c.kind == "leave-one-out"]
        assert chart.metric == metric


def test_every_figure_says_that_its_numbers_are_not_in_the_papers_text() -> None:
    assert all("no-picture" in figure.notes for figure in FIGURES.values())
