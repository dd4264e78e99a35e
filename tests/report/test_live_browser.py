"""The live page in a real browser, from the first round to the last.

One test, because a browser takes a second to start: it belongs to the fast ones.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.report.conftest import MakeRun, made_record

from fedsemi.report.live import following

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs the browser chromium (Debian: apt install chromium)"
)

ROUNDS = 3
HOSTILE = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
STATUS = "document.getElementById('status').textContent"
BAR = "document.getElementById('progress')"
CURVE = "document.querySelector('svg[aria-label^=\"Accuracy over rounds\"] path')"


def begin(make_run: MakeRun) -> Path:
    """Make a run of three rounds of which one is over; its names are an attack."""
    folder = make_run("<b>run", rounds=ROUNDS)
    clients = {str(k): {"site": f"{HOSTILE} {k}"} for k in range(4)}
    facts = {"class_names": [f"{HOSTILE} {c}" for c in "abcd"], "clients": clients}
    (folder / "analysis.json").write_text(json.dumps(facts))
    add_rounds(folder, 1)
    return folder


def add_rounds(folder: Path, done: int) -> None:
    lines = [json.dumps(made_record(r, ROUNDS, 4)) + "\n" for r in range(done)]
    (folder / "metrics.jsonl").write_text("".join(lines))


def points(browser: Browser) -> int:
    """Count the points of the curve."""
    return len(browser.wait(f"{CURVE}?.getAttribute('d')").replace("M", "L").split("L"))


def test_a_run_is_followed_to_its_end_on_a_desk_and_on_a_phone(
    make_run: MakeRun, tmp_path: Path
) -> None:
    folder = begin(make_run)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.watch()
        browser.open(server.address, width=1200)
        assert "round 1 of 3, accuracy 50.0 %" in browser.js(STATUS)
        assert browser.js(f"[{BAR}.value, {BAR}.max, {BAR}.hidden]") == [1, 3, False]
        assert points(browser) - 1 == 1

        add_rounds(folder, 2)
        browser.wait(f"{STATUS}.includes('round 2 of 3, accuracy 63.3 %')")
        assert browser.js(f"{BAR}.value") == 2
        assert points(browser) - 1 == 2

        browser.resize(390, 844)
        browser.wait(f"{CURVE}.ownerSVGElement.clientWidth < 390")
        assert browser.js("document.documentElement.scrollWidth") == 390

        add_rounds(folder, 3)
        result = {"mean_of_last_10": {"accuracy": 0.6}, "last_round": {}}
        (folder / "summary.json").write_text(json.dumps({"result": result}))
        browser.wait(f"{STATUS}.startsWith('Finished: round 3 of 3')")
        assert browser.js(f"{BAR}.hidden")

        # The names are text, on the page and in every chart of it.
        assert browser.js("document.title") == "<b>run – fedsemi"
        assert "onerror=alert" in browser.js(
            "document.getElementById('sites').innerText"
        )
        assert (
            browser.js("document.querySelectorAll('main script, main img').length") == 0
        )
        assert browser.complaints() == []
