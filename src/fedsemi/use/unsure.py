"""A page of the pictures that a model is least sure of, for whoever owns them.

It is made where the pictures lie, at a site of a federation for instance, and goes
nowhere: nothing of it is part of any answer to a coordinator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedsemi.report.build import page
from fedsemi.report.pictures import thumbnail
from fedsemi.text.printable import printable
from fedsemi.use.predict import Predictions, open_model, read_picture

_SCRIPTS = ("svg.js", "pictures.js", "unsure.js")
_SHOWN = 48
"""Eight rows of six."""


def unsure_page(model: Path, folder: Path, found: Predictions) -> str:
    """Show the pictures whose class is least sure, the least sure first.

    Args:
        model: What made the predictions.
        folder: Of the pictures.
        found: The predictions.
    """
    _, card = open_model(model)
    rows = sorted(found.rows, key=lambda row: row[2])[:_SHOWN]
    name = printable(folder.resolve().name)
    view = {
        "title": f"{name}: what the model is least sure of",
        "about": f"{len(rows)} of {len(found.rows):,} pictures, the least sure first. "
        "A person may look at these first. This page shows them: keep it where they "
        "may be.",
        "pictures": [
            _shown(file, label, sure, thumbnail(read_picture(folder, file, card)[0]))
            for file, label, sure in rows
        ],
    }
    return page(f"fedsemi: {view['title']}", view, live=False, scripts=_SCRIPTS)


def _shown(file: str, label: str, sure: float, src: str) -> dict[str, Any]:
    guess, percent = f"{printable(label)}?", f"{sure:.0%}".replace("%", " %")
    return {
        "src": src,
        "lines": [printable(file), guess, percent],
        "alt": f"{printable(file)}, perhaps {printable(label)}: {percent} confidence",
    }
