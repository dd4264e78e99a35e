"""The page of results in a real browser, on a phone and on a desk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.evidence.by_hand import evidence_of
from tests.report.browser import CHROMIUM, HOLES, Browser

import fedsemi
from fedsemi.evidence.catalogue import Artifact, setting
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.page import evidence_page
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS

PAGE = Path(fedsemi.__file__).parents[2] / "results" / "index.html"
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def show(browser: Browser, tmp_path: Path, medium: Profile):
    """Open a page of questions and figures, all of whose arms have the same scores."""

    def open_page(*artifacts: Artifact, place: str = "", **recorded: Any) -> None:
        settings = {each for artifact in artifacts for each in artifact.settings}
        evidence = evidence_of(medium, {each: [0.6, 0.7] for each in settings})
        for each in evidence.records.values():
            each.update(recorded)
        path = tmp_path / "index.html"
        path.write_text(evidence_page(artifacts, evidence), "utf-8")
        browser.resize(**PHONE)
        browser("Page.navigate", url=path.as_uri() + place)
        browser.wait("document.querySelectorAll('figure svg[role=img]').length")

    return open_page


def test_a_table_that_is_opened_shows_all_of_its_rows(browser: Browser, show) -> None:
    show(QUESTIONS["q8"])
    table = "document.querySelector('.question details .scroll')"
    browser.js(f"{table}.closest('details').open = true")
    assert browser.js(f"{table}.querySelectorAll('tbody tr').length") > 10
    hidden = f"{table}.scrollHeight - {table}.clientHeight"
    assert browser.js(hidden) <= 1


def test_no_name_or_number_beside_an_interval_is_cut_off(
    browser: Browser, show
) -> None:
    show(QUESTIONS["q8"])
    texts = "[...document.querySelectorAll('figure svg[role=img] text')]"
    beyond = (
        "t.getBBox().x + t.getBBox().width > +t.ownerSVGElement.getAttribute('width')"
    )
    assert (
        browser.js(f"{texts}.filter((t) => {beyond}).map((t) => t.textContent)") == []
    )
    words = browser.js(f"{texts}.map((t) => t.textContent).join(' ')")
    assert "Labels after the warm-up − the warm-up's model, CIFAR-100" in words


def test_each_seed_is_a_dot_below_its_interval_and_within_the_plot(
    browser: Browser, tmp_path: Path, medium: Profile
) -> None:
    ours, equal = (setting("svhn", arm) for arm in ("semianagg", "uniform"))
    # Forty differences of a point, but for one of nine that is far to the right.
    scores = {ours: [0.61, 0.69, *[0.61] * 38], equal: [0.6] * 40}
    path = tmp_path / "index.html"
    page = evidence_page([QUESTIONS["q1"]], evidence_of(medium, scores))
    path.write_text(page, "utf-8")
    browser.resize(**PHONE)
    browser("Page.navigate", url=path.as_uri())
    browser.wait("document.querySelectorAll('figure svg[role=img]').length")
    row = "document.querySelector('figure svg[role=img] g')"
    dots = f"[...{row}.querySelectorAll('.seed')]"
    assert browser.js(f"{dots}.length") == 40
    told = browser.js(f"{dots}.slice(0, 2).map((dot) => dot.textContent)")
    assert told == ["seed 1: +1.00", "seed 2: +9.00"]
    # Forty seeds of which 39 have 1 and one has 9 have a median of 1 and a mean of 1.2.
    title = browser.js(f"{row}.querySelector(':scope > title').textContent")
    assert ": +1.20 (" in title and title.endswith("n = 40; median +1.00")
    line = f"{row}.querySelector('path').getBBox().y"
    assert browser.js(f"{dots}.every((dot) => dot.getBBox().y > {line})")
    text = f"{row}.querySelector('text').getBBox().x"
    assert browser.js(f"{dots}[1].getBBox().x < {text}")


def test_a_map_has_a_key_of_its_colors_with_the_ends_of_both_maps(
    browser: Browser, show
) -> None:
    show(QUESTIONS["q3"])
    maps = "[...document.querySelectorAll('figure svg[role=img]')]"
    texts = "[...svg.querySelectorAll('text')].slice(-2).map((t) => t.textContent)"
    ends = browser.js(f"{maps}.map((svg) => {texts})")
    assert ends == [["−0.5, below zero", "+0.5, above zero"]] * 2


def test_who_owns_which_classes_is_told_in_numbers_and_by_a_key(
    browser: Browser, show
) -> None:
    # Ten classes of so many images each do not fit the screen of a phone.
    own = {"num_labeled": 0, "num_unlabeled": 24750, "class_count": [2475] * 10}
    digits = [str(each) for each in range(10)]
    show(CATALOGUE["fig11"], owns={"0": own, "1": own}, class_names=digits)
    svg = "document.querySelector('figure svg[role=img]')"
    texts = browser.js(f"[...{svg}.querySelectorAll('text')].map((t) => t.textContent)")
    assert texts.count("2,475") == 20 and texts[-2:] == ["1", "2,475 images"]
    assert browser.js("document.documentElement.scrollWidth") == 390
    assert not browser.js(f"{svg}.closest('figure').querySelector('.more').hidden")


def test_the_address_of_a_question_is_its_name_and_leads_to_it(
    browser: Browser, show
) -> None:
    names = ("q4-held-out", "q4-ramp", "q9", "q8")
    show(*(QUESTIONS[name] for name in names), place="#q8")
    links = "[...document.querySelectorAll('nav a')].map((a) => a.hash)"
    assert browser.js(links) == [f"#{name}" for name in names]
    # Charts above it are drawn after the browser has looked for it.
    browser.wait(
        "Math.abs(document.querySelector('#q8').getBoundingClientRect().top) < 40"
    )
    assert browser.js("document.querySelector('#q8').textContent").startswith("Q8")


def test_the_leads_of_the_paper_are_told_before_the_questions(
    browser: Browser, show
) -> None:
    show(QUESTIONS["q8"], CATALOGUE["table3"])
    first, second, *_ = browser.js(
        "[...document.querySelectorAll('#content > *')].map((e) => e.textContent)"
    )
    assert first.startswith("SemiAnAgg − FedAvg-Semi on ISIC-18 (Table 3) is +0.00")
    assert second.startswith("Beside the paper, lead by lead")
    table = "document.querySelector('#content > details')"
    assert not browser.js(f"{table}.open")
    browser.js(f"{table}.open = true")
    assert browser.js(f"{table}.querySelectorAll('tbody tr').length") == 2
    assert browser.js("document.documentElement.scrollWidth") == 390


def test_a_page_without_them_begins_with_its_questions(browser: Browser, show) -> None:
    show(QUESTIONS["q8"])
    assert browser.js("document.querySelector('#content > *').textContent") == (
        "Questions"
    )


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_screen_and_every_link_leads_somewhere(
    tmp_path: Path, width: int
) -> None:
    with Browser(tmp_path) as browser:

        def asked(expression: str) -> object:
            found = browser("Runtime.evaluate", expression=expression)["result"]
            return found.get("value")

        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser("Emulation.setDeviceMetricsOverride", **size)
        browser("Page.navigate", url=PAGE.as_uri())
        end = time.monotonic() + 30
        while not asked("document.querySelectorAll('figure svg').length"):
            assert time.monotonic() < end, "no chart was drawn"
            time.sleep(0.1)
        assert asked("document.documentElement.scrollWidth") == width
        links = "[...document.querySelectorAll('nav a, .overview a')]"
        assert asked(f"{links}.length > 8")
        assert asked("document.querySelectorAll('.overview tr').length > 8")
        lost = f"{links}.filter((a) => !document.querySelector(a.hash)).length"
        assert asked(lost) == 0
        shown = asked("document.querySelectorAll('.question').length")
        assert shown == len(QUESTIONS)
        assert asked(HOLES) == 0
        # What is nothing has no sign.
        words = "[...document.querySelectorAll('svg text')].map((t) => t.textContent)"
        assert (
            asked(f"{words}.filter((word) => /^[+−]0[.]0+(,|$)/.test(word)).length")
            == 0
        )
