"""Make one HTML file that opens without a network."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from fedsemi.printable import printable
from fedsemi.report.run import Run
from fedsemi.report.view import view_of

_SCRIPTS = ("svg.js", "charts.js", "sections.js", "value.js", "live.js", "page.js")


def report(runs: Sequence[Run]) -> str:
    """Return a report of one run, or a comparison of several."""
    title = "fedsemi report: " + ", ".join(run.name for run in runs)
    return page(title, view_of(runs), live=False)


def page(
    title: str,
    view: dict[str, Any],
    *,
    live: bool,
    scripts: Sequence[str] = _SCRIPTS,
) -> str:
    """Put data, style and scripts into one page; a live one asks for more data."""
    content = json.dumps({"live": live, **view}, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(printable(title)),
        "STYLE": _asset("style.css"),
        # A class name may contain "</script>"; in JSON, "<" may be written otherwise.
        "DATA": content.replace("<", "\\u003c"),
        "SCRIPT": "\n".join(_asset(name) for name in scripts),
    }
    text = _asset("page.html")
    before, *others = text.split("{{")
    pieces = [before]
    for other in others:
        name, _, after = other.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def _asset(name: str) -> str:
    return (files("fedsemi.report") / "page" / name).read_text("utf-8")
