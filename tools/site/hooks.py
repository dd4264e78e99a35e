"""What mkdocs asks while it builds the site; named in mkdocs.yml."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files
from tools.site import beside, reference, tabs

_DOCS = PurePosixPath("docs")


def on_config(config: Any) -> Any:
    """Give headings the names that they have on GitHub, so that links hold there."""
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the page of public names, and what pages link to outside of docs/."""
    pages = [*(beside.ROOT / "docs").glob("*.md")]
    made: dict[str, str | bytes] = {"reference.md": reference.page()}
    for path in beside.all_linked(pages):
        made |= beside.shown(path)
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links out of docs/ to pages of the site, and make tabs."""
    name = page.file.src_uri
    if name == "index.md":
        page.meta["hide"] = ["navigation"]  # the front page is the way in
    if name.endswith((".py.md", ".sh.md")):
        page.meta["search"] = {"exclude": True}  # words are looked for, not code
    if not name.startswith(f"{beside.PLACE}/") and name != "reference.md":
        markdown = beside.relinked(markdown, _DOCS)
    return tabs.tabbed(markdown)


def slug(heading: str, separator: str) -> str:
    """Name a heading as GitHub does.

    >>> slug("A — b, c", "-")
    'a--b-c'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)
