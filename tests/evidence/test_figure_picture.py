"""A figure as one picture to print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.evidence.made import evidence_of, record

from fedsemi.evidence.catalogue import Artifact, Chart, setting
from fedsemi.evidence.figure_picture import drawn, figure_svg
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.plots import Plot, plots_of
from fedsemi.evidence.profiles import Profile
from fedsemi.report import build

OURS = setting("isic18", "semianagg")
PAGE = Path(build.__file__).parent / "page"
SVG = "{http://www.w3.org/2000/svg}"


def curves(**more: Any) -> Plot:
    series = {"name": "Ours", "xs": [1, 2, 3], "values": [0.4, 0.5, 0.6]} | more
    return {"kind": "lines", "title": "A", "note": "", "series": [series]}


def parts(text: str, kind: str) -> list[dict[str, str]]:
    """Return what is drawn of a kind; what is no XML fails here."""
    return [dict(each.attrib) for each in ElementTree.fromstring(text).iter(SVG + kind)]


def words(text: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_a_higher_value_stands_higher_and_a_later_round_further_right() -> None:
    (curve,) = parts(drawn("Curves", [curves()]), "polyline")
    points = [tuple(map(float, each.split(","))) for each in curve["points"].split()]
    xs, ys = zip(*points, strict=True)
    assert list(xs) == sorted(xs) and list(ys) == sorted(ys, reverse=True)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)


def test_a_band_is_drawn_below_every_line_and_its_seeds_are_named() -> None:
    band = {"low": [0.3, 0.4, 0.5], "high": [0.5, 0.6, 0.7], "seeds": 5}
    plot = curves(**band)
    plot["series"] *= 2
    text = drawn("Curves", [plot])
    assert len(parts(text, "polygon")) == 2
    assert text.rindex("<polygon") < text.index("<polyline")
    assert "Ours (n = 5)" in words(text)


def test_what_is_not_known_is_a_gap_and_a_value_alone_a_dot() -> None:
    text = drawn("Curves", [curves(xs=[1, 2, 3, 4], values=[0.4, 0.5, None, 0.6])])
    assert len(parts(text, "polyline")) == len(parts(text, "circle")) == 1


def test_more_lines_than_colors_are_told_apart_by_dashes() -> None:
    plot = curves()
    plot["series"] = [plot["series"][0] | {"name": str(i)} for i in range(9)]
    drawn_as = [
        (each["stroke"], each.get("stroke-dasharray", ""))
        for each in parts(drawn("Curves", [plot]), "polyline")
    ]
    assert len(set(drawn_as)) == 9


def test_a_note_stands_below_its_plot_and_is_broken_into_rows() -> None:
    note = "The band is one standard deviation. " * 4
    text = drawn("Curves", [curves() | {"note": note}])
    assert " ".join(words(text)).endswith(f"Ours {note.strip()}")
    places = [float(each["y"]) for each in parts(text, "text")]
    assert places[-2:] == [places[-1] - 15, max(places)]
    (size,) = [each["height"] for each in parts(text, "rect")]
    assert float(size) > max(places) + 24, "it lies in the picture"


def test_a_client_has_the_color_and_the_dashes_that_it_has_on_the_page() -> None:
    plot = curves()
    plot["series"] = [
        plot["series"][0] | {"name": f"client {number}"} for number in (1, 8)
    ]
    one, eight = parts(drawn("Clients", [plot]), "polyline")
    style, script = (
        (PAGE / name).read_text("utf-8") for name in ("style.css", "svg.js")
    )
    # The first that is said is the one on white.
    (color,) = re.findall(r"--c1: (#\w+)", style)[:1]
    dashes = json.loads(re.findall(r"DASHES = (\[.*?\]);", script)[0])
    assert (one["stroke"], one.get("stroke-dasharray", "")) == (color, dashes[0])
    assert (eight["stroke"], eight["stroke-dasharray"]) == (color, dashes[1])


def test_a_long_name_of_a_bar_is_not_cut_and_has_its_seeds() -> None:
    name = "2 labeled: SemiAnAgg, paper's rule"
    rows = [{"name": name, "value": 40.0, "seeds": 5}]
    plot = {"kind": "bars", "title": "B", "note": "", "unit": "percent", "rows": rows}
    assert f"{name} (n = 5)" in words(drawn("Bars", [plot]))


def test_bars_begin_at_zero_on_the_side_of_their_sign() -> None:
    rows = [{"name": "lost", "value": -2.0}, {"name": "gained", "value": 1.0}]
    plot = {"kind": "bars", "title": "B", "note": "", "unit": "points", "rows": rows}
    _, lost, gained = parts(drawn("Bars", [plot]), "rect")
    zero = float(gained["x"])
    assert float(lost["x"]) + float(lost["width"]) == pytest.approx(zero, abs=0.2)
    assert float(lost["width"]) == pytest.approx(2 * float(gained["width"]), abs=0.2)


def test_counts_are_written_and_the_largest_is_darkest() -> None:
    plot = {
        "kind": "heat",
        "title": "C",
        "note": "",
        "rows": ["0"],
        "columns": ["a", "b"],
        "values": [[3, 12]],
    }
    text = drawn("Classes", [plot])
    assert [each["fill-opacity"] for each in parts(text, "rect")[1:]] == [
        "0.25",
        "1.00",
    ]
    assert {"client 0", "3", "12", "a", "b"} <= set(words(text))


def test_what_was_not_run_has_no_picture(tiny: Profile) -> None:
    figure = Artifact("fig1", "Curves", charts=(Chart("curves", "A", (OURS,)),))
    assert figure_svg(figure, evidence_of(tiny, {})) == ""


def test_every_figure_of_the_paper_can_be_drawn(tiny: Profile) -> None:
    own = {"class_count": [3], "num_labeled": 3, "num_unlabeled": 0}
    run = record(0.5) | {
        "owns": {str(client): own for client in range(10)},
        "class_names": ["<a>"],
        "clients": {
            "round": [1],
            "contribution": {"1": [0.1]},
            "pseudo_label_accuracy": {"1": [0.9]},
            "mean_contribution": {"1": 0.1},
        },
    }
    run["rounds"]["auc"] = [0.5]
    for artifact in CATALOGUE.values():
        shown = {each for chart in artifact.charts for each in chart.settings}
        evidence = evidence_of(tiny, {each: [run] for each in shown})
        plots = [p for chart in artifact.charts for p in plots_of(chart, evidence)]
        if not plots:
            continue
        text = figure_svg(artifact, evidence)
        assert {plot["title"] for plot in plots} <= set(words(text)), artifact.name
