"""What a page must have before one shows it: colors, axes, marks, pictures, paper."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.report.browser import CHROMIUM, HOLES, Browser
from tests.report.test_bounds import ALL, SUPERVISED, finish

from fedsemi.report.build import report
from fedsemi.report.pictures import Pictures, thumbnail
from fedsemi.report.run import read_run

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs the browser chromium (Debian: apt install chromium)"
)

SHARES = "Shares of the clients without labels"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def show(browser: Browser, tmp_path: Path):
    """Open the report of a run in the browser."""

    def open_report(folder: Path, pictures: Pictures | None = None, **window: Any):
        path = tmp_path / f"{folder.name}.html"
        path.write_text(report([read_run(folder)], pictures or Pictures()))
        browser.open(path.as_uri(), **{"width": 1200} | window)

    return open_report


def chart(title: str) -> str:
    return f"document.querySelector('svg[aria-label^=\"{title}\"]')"


def styles(browser: Browser, title: str) -> list[list[str]]:
    """List color and dash of the lines of a chart, in the order of its legend."""
    figure = f"{chart(title)}.closest('figure')"
    lines = f"[...{figure}.querySelectorAll('.legend line')]"
    read = "[line.getAttribute('stroke'), line.getAttribute('stroke-dasharray')]"
    return browser.js(f"{lines}.map((line) => {read})")


def change(folder: Path, edit) -> Path:
    """Edit the records of a run."""
    path = folder / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for number, record in enumerate(records, start=1):
        edit(number, record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def turned_round(number: int, record: dict[str, Any]) -> None:
    """Let whoever contributed least contribute most."""
    clients = record["clients"]
    shares = [own["contribution"] for own in clients.values()]
    for own, share in zip(list(clients.values())[1:], shares[:0:-1], strict=True):
        own["contribution"] = share


def test_a_site_keeps_its_color_whatever_it_contributes(browser, show, make_run):
    show(make_run("a", clients=12))
    first = styles(browser, SHARES)
    accepted = styles(browser, "Accepted pseudo-labels")
    show(change(make_run("b", clients=12), turned_round))
    assert styles(browser, SHARES) == first == accepted
    assert len({tuple(style) for style in first}) == 11  # no two are alike
    show(make_run("fewer", clients=5))
    assert styles(browser, SHARES) == first[:4]  # a federation that lost sites


def test_bars_areas_and_lines_of_a_site_have_one_color(browser, show, make_run):
    show(make_run("a", clients=12))
    bars = f"[...{chart('Images of each client')}.querySelectorAll('rect')]"
    fills = browser.js(f"{bars}.map((bar) => bar.getAttribute('fill'))")
    stack = f"[...{chart('Share of each client')}.querySelectorAll('path')]"
    areas = browser.js(f"{stack}.map((area) => area.getAttribute('fill'))")
    assert fills == areas
    assert len(set(fills)) == 12
    assert fills[3] == styles(browser, SHARES)[2][0] == "var(--c3)"
    texture = fills[9].removeprefix("url(#").removesuffix(")")
    assert browser.js(f"document.getElementById('{texture}')?.tagName") == "pattern"


def test_of_fifty_sites_those_that_count_most_are_named(browser, show, make_run):
    show(make_run("many", clients=50))
    names = browser.js(
        f"[...{chart(SHARES)}.closest('figure').querySelectorAll('.legend li')]"
        ".map((item) => item.innerText)"
    )
    assert names == [*(f"client {k}" for k in range(38, 50)), "37 other clients, thin"]


def test_of_two_sites_that_look_alike_one_is_named(browser, show, make_run):
    def alike(number: int, record: dict[str, Any]) -> None:
        for id, own in record["clients"].items():
            own["contribution"] = {"6": 0.4, "34": 0.3}.get(id, 0.3 / 48)

    show(change(make_run("many", clients=50), alike))
    looks = [tuple(style) for style in styles(browser, SHARES)]
    assert len(set(looks)) == len(looks)


def test_the_axis_is_fitted_to_the_data_and_the_bounds(browser, show, make_run):
    def late(number: int, record: dict[str, Any]) -> None:
        record["accuracy"] = record["balanced_accuracy"] = 0.8 + 0.01 * number

    run = change(finish(make_run("method"), 0.83), late)
    finish(make_run("low", **SUPERVISED), 0.79)
    finish(make_run("up", **SUPERVISED, **ALL), 0.88)
    show(run)
    words = f"[...{chart('Accuracy over')}.querySelectorAll('text')]"
    texts = browser.js(f"{words}.map((word) => word.textContent)")
    shares = [float(t[:-2]) for t in texts if re.fullmatch(r"[\d.]+ %", t)]
    assert (min(shares), max(shares)) == (78, 90)
    assert {"labels only: 79.0 %", "all labels: 88.0 %"} <= set(texts)
    assert "The axis begins at 78 %" in browser.js("document.body.innerText")


def test_what_the_guard_cut_is_marked_where_it_happened(browser, show, make_run):
    def cut(number: int, record: dict[str, Any]) -> None:
        one = {"client": 3, "round": number - 1, "code": "FS2109", "reason": "cut"}
        all = {"client": None, "round": number - 1, "code": "FS2142", "reason": "cut"}
        cuts = [one | {"part": 0.25}, all | {"part": 0.5}]
        record["notices"] = cuts if number == 2 else []

    show(change(make_run(guard={"enabled": True}), cut))

    def marks(title: str) -> list[str]:
        found = f"[...{chart(title)}.querySelectorAll('.cut title')]"
        return browser.js(f"{found}.map((mark) => mark.textContent)")

    assert marks("Where the guard cut") == [
        "round 2, client 3: share of the mean cut to 25.0 %",
        "round 2, all: steps of all clients without labels cut to 50.0 %",
    ]
    one = "round 2, client 3, guard: share of the mean cut to 25.0 %"
    assert marks(SHARES) == [one]
    ticks = f"{chart('Accuracy over')}.querySelectorAll('.cut').length"
    assert browser.js(ticks) == 1


@pytest.mark.parametrize("width", [1200, 390])
def test_small_multiples_leave_no_holes(browser, show, real_run, width):
    show(real_run, width=width)
    assert browser.js("document.querySelectorAll('.grid').length") > 3
    assert browser.js(HOLES) == 0
    last = "document.querySelector('.tile:last-child').getBoundingClientRect().right"
    row = "document.querySelector('.tiles').getBoundingClientRect().right"
    assert browser.js(f"Math.abs({last} - {row}) < 2")


def test_pictures_are_drawn_and_said_in_words(browser, show, make_run):
    image = thumbnail(torch.full((3, 8, 8), 99, dtype=torch.uint8))
    doubt = {"label": 0, "confidence": 0.4, "src": image}
    shown = Pictures(({**doubt, "true": 1},), ({"client": 2, "images": [doubt] * 6},))
    folder = make_run()
    names = ["<i>cat</i>", "dog", "cow", "hen"]
    (folder / "analysis.json").write_text(json.dumps({"class_names": names}))
    show(folder, shown, width=390)
    pictures = "[...document.querySelectorAll('main img')]"
    assert browser.js(f"{pictures}.filter((i) => i.naturalWidth === 8).length") == 7
    words = browser.js(f"{pictures}.map((i) => i.alt)")
    assert words[0] == "An image of dog, taken for <i>cat</i> with 40 % confidence"
    assert words[1].startswith("An unlabeled image of client 2, perhaps <i>cat</i>")
    assert browser.js("document.documentElement.scrollWidth") == 390


def test_on_paper_a_dark_page_is_light_and_its_charts_fit(browser, show, make_run):
    show(make_run(clients=12), scheme="dark")
    browser("Emulation.setEmulatedMedia", media="print")
    browser.resize(688, 900)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    root = "getComputedStyle(document.documentElement)"
    assert browser.js(f"{root}.getPropertyValue('--text').trim()") == "#1b1f24"
    charts = "[...document.querySelectorAll('figure svg[role=img]')]"
    assert browser.js(f"{charts}.every((c) => c.clientWidth <= 660)")
    assert browser.js("document.documentElement.scrollWidth") <= 688
    hidden = "[...document.querySelectorAll('nav, details, progress')]"
    assert browser.js(f"{hidden}.every((n) => !n.getClientRects().length)")
    browser("Emulation.setEmulatedMedia", media="")
    paper = b64decode(browser("Page.printToPDF")["data"])
    assert paper.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 7
