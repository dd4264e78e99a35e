"""Ways to do the same thing, side by side: tabs on the site, plain text on GitHub."""

from __future__ import annotations

import re
import textwrap

_TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- end of tabs -->$", re.M | re.S)
_TITLE = re.compile(r"^\*\*(.+)\*\*$", re.M)


def tabbed(page: str) -> str:
    r"""Turn what stands between the marks into tabs, one for each bold line.

    >>> text = "**A**\n\na\n\n**B**\n\nb"
    >>> print(tabbed(f"<!-- tabs -->\n{text}\n<!-- end of tabs -->"))
    === "A"
    <BLANKLINE>
        a
    <BLANKLINE>
    === "B"
    <BLANKLINE>
        b
    <BLANKLINE>
    """
    return _TABS.sub(lambda found: _as_tabs(found[1]), page)


def _as_tabs(text: str) -> str:
    _, *parts = _TITLE.split(text)
    return "\n".join(
        f'=== "{title}"\n\n{textwrap.indent(body.strip(), "    ")}\n'
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    )
