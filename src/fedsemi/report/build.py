"""Make one HTML file that opens without a network."""

from __future__ import annotations

import hashlib
import html
import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from fedsemi.report.pictures import NO_PICTURES, Pictures
from fedsemi.report.run import Run
from fedsemi.report.view import view_of
from fedsemi.text.printable import printable

_SCRIPTS = (
    "svg.js",
    "charts.js",
    "clients.js",
    "sections.js",
    "guard.js",
    "pictures.js",
    "value.js",
    "evaluation.js",
    "live.js",
    "page.js",
)


def report(runs: Sequence[Run], pictures: Pictures = NO_PICTURES) -> str:
    """Return a report of one run, or a comparison of several.

    Args:
        runs: The first one that is no bound is the main one.
        pictures: Images of the main run.
    """
    title = "fedsemi report: " + ", ".join(run.name for run in runs)
    return page(title, view_of(runs, pictures), live=False)


@cache
def policy(*, live: bool, scripts: Sequence[str] = _SCRIPTS) -> str:
    """Return the content security policy of a page: its own parts and nothing else.

    A name that got into the page as more than text could then neither run nor load or
    send anything.
    """
    sources = {
        "default-src": "'none'",
        "script-src": _hash(_script(scripts)),
        "style-src": _hash(_style()),
        "img-src": "data:",
        "connect-src": "'self'" if live else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{kind} {source}" for kind, source in sources.items())


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
        "POLICY": policy(live=live, scripts=tuple(scripts)),
        "STYLE": _style(),
        # A class name may contain "</script>"; in JSON, "<" may be written otherwise.
        "DATA": content.replace("<", "\\u003c"),
        "SCRIPT": _script(scripts),
    }
    text = _asset("page.html")
    before, *others = text.split("{{")
    pieces = [before]
    for other in others:
        name, _, after = other.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def _script(names: Sequence[str]) -> str:
    return "\n".join(['\n"use strict";', *(_asset(name) for name in names), ""])


def _style() -> str:
    return f"\n{_asset('style.css')}\n"


def _hash(text: str) -> str:
    digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _asset(name: str) -> str:
    return (files("fedsemi.report") / "page" / name).read_text("utf-8")
