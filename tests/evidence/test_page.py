"""The page: self-contained, with every artifact, and an example by the real code."""

from __future__ import annotations

import pytest

from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.page import evidence_page, worked_example
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence


def test_the_worked_example_shows_that_the_rules_disagree_on_the_winner() -> None:
    paper, released = zip(*[row[2:] for row in worked_example()["rows"]], strict=True)
    assert paper == ("0.2937", "0.5952", "0.1111")
    assert released == ("0.3593", "0.3556", "0.2852")


def test_the_page_needs_no_network_and_names_every_artifact(tiny: Profile) -> None:
    some = [CATALOGUE[name] for name in ("table3", "fig2", "fig4", "fig11")]
    text = evidence_page(some, Evidence(tiny, 1, {}))
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    for name in ("Table 3", "Figure 2", "Figure 4", "Figure 11", "Not run: "):
        assert name in text


@pytest.mark.parametrize("name", ["fig1", "fig5", "fig12"])
def test_a_figure_without_records_has_no_plots(tiny: Profile, name: str) -> None:
    text = evidence_page([CATALOGUE[name]], Evidence(tiny, 1, {}))
    assert '"plots":[]' in text
