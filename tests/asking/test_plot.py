"""A plot: every number has its place, and a reader who sees no color has dashes."""

from __future__ import annotations

from xml.etree import ElementTree

from fedsemi.asking.plot import Series, plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*series: Series) -> ElementTree.Element:
    return ElementTree.fromstring(plot("A <b> & c", series))


def test_values_rise_and_budgets_go_to_the_right() -> None:
    made = drawn(Series("x", ((0, 50.0, 45.0, 55.0), (20, 60.0, None, None))))
    first, second = made.iter(f"{SVG}circle")
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) > float(second.get("cy", 0))
    (group,) = made.iter(f"{SVG}g")
    whisker, sample = group.iter(f"{SVG}line")  # one interval, and one in the legend
    assert float(whisker.get("y1", 0)) > float(whisker.get("y2", 0))
    assert sample.get("x1") != sample.get("x2")


def test_lines_differ_in_dashes_as_well_and_have_their_names() -> None:
    marks = ((0, 50.0, None, None), (5, 55.0, None, None))
    made = drawn(*(Series(name, marks) for name in "abcd"))
    dashes = [line.get("stroke-dasharray") for line in made.iter(f"{SVG}polyline")]
    assert len(set(dashes)) == 4
    texts = [text.text for text in made.iter(f"{SVG}text")]
    assert {"a", "b", "c", "d", "labels asked for", "50 %"} <= set(texts)


def test_an_interval_beyond_what_percents_can_be_ends_at_the_edge() -> None:
    made = drawn(Series("x", ((0, 97.0, 80.0, 114.0), (9, 3.0, -9.0, 15.0))))
    heights = [
        float(v)
        for line in made.iter(f"{SVG}line")
        for v in (line.get("y1", 0), line.get("y2", 0))
    ]
    assert min(heights) > 0 and max(heights) < 340
    assert made.find(f"{SVG}title").text == "A <b> & c"  # type: ignore[union-attr]
