"""A page of one test of a model, for whoever owns the pictures."""

from __future__ import annotations

from fedsemi.report.build import page
from fedsemi.text.printable import visible
from fedsemi.use.evaluate import Evaluation

_SCRIPTS = ("svg.js", "charts.js", "evaluation.js", "evaluated.js")


def evaluation_page(model: str, tested_on: str, found: Evaluation) -> str:
    """Show what a test found.

    Args:
        model: The name of what was tested.
        tested_on: The name of what it was tested on.
        found: What was found.
    """
    num = len(found.left_out)
    view = {
        "title": f"{model} on {tested_on}",
        "about": f"{num:,} pictures or rows could not be used and are left out."
        if num
        else "",
        "evaluation": found.facts,
    }
    shown = visible(view)
    return page(f"fedsemi: {shown['title']}", shown, live=False, scripts=_SCRIPTS)
