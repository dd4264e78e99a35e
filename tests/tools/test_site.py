"""The documentation site has all pages, builds without a warning, and stays at home."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from tools.site import beside, reference, settings_page
from tools.site.notebook import as_markdown

import fedsemi
from fedsemi.config.described import sections
from fedsemi.methods import METHODS

from ..report.browser import CHROMIUM, Browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = ("beside", "notebook", "tabs")


def in_nav(part: object) -> Iterator[str]:
    """Yield the pages of a navigation, from top to bottom."""
    if isinstance(part, str):
        yield part
    for each in part if isinstance(part, list) else ():
        for inner in each.values() if isinstance(each, dict) else (each,):
            yield from in_nav(inner)


@pytest.fixture(scope="module")
def nav() -> list[str]:
    yaml = pytest.importorskip("yaml")
    return list(in_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))


def test_every_page_is_in_the_navigation_once(nav: list[str]) -> None:
    written = sorted(page.name for page in DOCS.glob("*.md"))
    here = sorted(page for page in nav if not page.startswith("repo/"))
    assert here == sorted([*written, "reference.md"])
    assert len(nav) == len(set(nav))


def test_what_the_navigation_has_from_outside_comes_along(nav: list[str]) -> None:
    made = set[str]()
    for path in beside.all_linked([*DOCS.glob("*.md")]):
        made |= beside.shown(path).keys()
    assert {page for page in nav if page.startswith("repo/")} <= made
    assert "repo/src/fedsemi/server/rounds.py.md" in made


def test_the_page_of_settings_is_what_make_settings_writes() -> None:
    written = (DOCS / "settings.md").read_text("utf-8")
    assert written == settings_page.page(), "stale; run `make settings`"


def test_the_page_of_settings_has_every_setting_and_method() -> None:
    text = (DOCS / "settings.md").read_text("utf-8")
    for _, found in sections():
        assert all(f"| `{each.path}` |" in text for each in found)
    assert all(f"\n### {name}\n" in text for name in METHODS)


def test_the_reference_has_every_public_name_once() -> None:
    names = " ".join(reference.GROUPS.values()).split()
    assert sorted(names) == sorted({*fedsemi.__all__} - {"__version__"})
    assert "heading: fedsemi.simulate" in reference.page()


def test_links_of_a_page_lead_to_the_same_file_on_the_site() -> None:
    text = "[a](../examples/own_data.py) ![b](images/x.svg) [c](https://d.e)"
    assert beside.relinked(text, PurePosixPath("docs")) == (
        "[a](repo/examples/own_data.py.md) ![b](images/x.svg) [c](https://d.e)"
    )


def test_a_notebook_finds_its_pictures_on_the_site() -> None:
    path = PurePosixPath("examples/from_folders_to_a_report.ipynb")
    page, *pictures = beside.shown(path).items()
    assert len(pictures) == 2
    for name, _ in pictures:
        assert f"]({PurePosixPath(name).name})" in str(page[1])


def test_a_notebook_keeps_words_pictures_and_no_colors() -> None:
    cell = (
        '{"cell_type": "code", "source": ["x"], "outputs": ['
        '{"output_type": "stream", "text": ["\\u001b[1mbold\\u001b[0m"]},'
        '{"output_type": "display_data",'
        ' "data": {"image/png": "QUJD", "text/plain": "a plot"}}]}'
    )
    page, pictures = as_markdown(f'{{"cells": [{cell}]}}', "n")
    assert "\nbold\n" in page and "![a plot](n-1.png)" in page
    assert pictures == {"n-1.png": b"ABC"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_tools_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"tools.site.{name}"))
    assert found.attempted and not found.failed


def test_no_page_takes_anything_from_the_network() -> None:
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in config and "http" not in config
    for page in DOCS.glob("*.md"):
        assert not re.search(r"!\[[^]]*\]\(http|<(img|script|link)", page.read_text())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does; a warning is an error there."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("built") / "site"
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nobody(site: Path) -> None:
    fetched = re.compile(
        r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//"
    )
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text("utf-8")), page
    text = (site / "reference.html").read_text("utf-8")
    homes = ("api.training.simulate", "api.handle.Run", "method.Method")
    assert all(f'id="fedsemi.{home}"' in text for home in homes)


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium")
@pytest.mark.parametrize("width", [1200, 390])
def test_pages_fit_a_window_and_can_be_searched_from_a_disk(
    site: Path, width: int, tmp_path: Path
) -> None:
    with Browser(tmp_path) as browser:
        browser.resize(width, 900)
        for page in sorted(site.glob("*.html")):
            browser("Page.navigate", url=page.as_uri())
            browser.wait("document.readyState === 'complete'")
            wide = browser.js("document.documentElement.scrollWidth")
            assert wide <= width, f"{page.name} is {wide} pixels wide"
        browser.wait("!!document.querySelector('[data-md-component=search-result]')")
        browser.js(
            "(field => { field.focus(); field.value = 'dirichlet_alpha';"
            "field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})) })"
            "(document.querySelector('.md-search__input'))"
        )
        browser.wait("!!document.querySelector('.md-search-result__link')")
        found = browser.js(
            "document.querySelector('.md-search-result__list').innerText"
        )
        assert "dirichlet_alpha" in found
