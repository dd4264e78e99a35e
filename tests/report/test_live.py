"""The page that follows a run, in a real browser where there is one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest
from rich.console import Console
from tests.report.browser import CHROMIUM, Browser
from tests.report.conftest import made_record

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import CannotCreate
from fedsemi.report.live import LivePage, following
from fedsemi.report.local_server import HOST, Limits
from fedsemi.runs.folder import RunFolder
from fedsemi.runs.records import Step
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.use.session import record_new_run, record_run

QUIET = Console(quiet=True)
STATUS = "document.getElementById('status').textContent"


def needs_browser(test: Callable[..., None]) -> Callable[..., None]:
    missing = pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium")
    return pytest.mark.slow(missing(test))


def add_round(folder: Path, index: int) -> None:
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(made_record(index, 9, 4)) + "\n")


def get(server: LivePage, path: str) -> tuple[int, str]:
    connection = HTTPConnection(HOST, server.server_port, timeout=5)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_data_are_those_of_now(make_run) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server:
        add_round(folder, 2)
        data = json.loads(get(server, "/data")[1])
    assert len(data["runs"][0]["rounds"]["accuracy"]) == 3


def test_a_round_is_announced_to_who_listens(make_run) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server, urlopen(f"{server.address}events") as events:
        time.sleep(0.1)
        add_round(folder, 2)
        assert events.readline() == b"data: round\n"


def test_who_listens_gets_the_run_as_it_is_when_the_server_stops(make_run) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server:
        events = urlopen(f"{server.address}events")
        time.sleep(0.1)
        add_round(folder, 2)
    kind, data = events.read().decode().strip().splitlines()[-2:]
    assert kind == "event: end"
    view = json.loads(data.removeprefix("data: "))
    assert len(view["runs"][0]["rounds"]["accuracy"]) == 3


def test_the_page_begins_with_whether_unlabeled_sites_helped(make_run) -> None:
    with following(make_run()) as server:
        told = json.loads(get(server, "/data")[1])["runs"][0]["helped"]
        assert told.startswith("Whether the unlabeled sites helped cannot be said")
        assert '<p id="helped">' in get(server, "/")[1]


def test_labels_alone_that_are_trained_meanwhile_are_news(make_run) -> None:
    folder = make_run()
    with following(folder) as server:
        before = server.traces()
        (folder / "labels-only").mkdir()
        (folder / "labels-only" / "metrics.jsonl").write_text("{}\n")
        assert server.traces() != before


def test_there_is_nothing_but_the_run(make_run) -> None:
    with following(make_run()) as server:
        assert get(server, "/../config.json")[0] == 404


def test_a_run_that_has_not_begun_is_waited_for(tmp_path: Path) -> None:
    with following(tmp_path / "later") as server:
        status, text = get(server, "/")
    assert status == 503
    assert "not begun" in text


def test_a_port_that_cannot_be_is_one_clean_line(make_run) -> None:
    said = "cannot open port 99999 on 127.0.0.1: ports go from 0 to 65535; choose"
    with pytest.raises(CannotCreate, match=said):
        LivePage(make_run(), 99999)


def test_a_port_in_use_is_named(make_run) -> None:
    folder = make_run()
    with following(folder) as server:
        port = server.server_port
        with pytest.raises(CannotCreate, match=f"port {port}"):
            LivePage(folder, port)


@needs_browser
def test_a_browser_shows_rounds_that_end_while_it_looks(make_run, tmp_path) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        assert "round 2 of 2" in browser.js("document.body.innerText")
        add_round(folder, 2)
        browser.wait("document.body.innerText.includes('round 3 of 2')")
        add_round(folder, 3)
        browser.wait("document.body.innerText.includes('round 4 of 2')")


@needs_browser
def test_what_was_opened_and_focused_stays_so_in_the_next_round(
    make_run, tmp_path
) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        browser.js("document.querySelector('figure details').open = true")
        browser.wait("document.querySelectorAll('figure tbody tr').length === 2")
        label = "document.activeElement.getAttribute('aria-label')"
        # The page draws itself once more as soon as it is connected.
        focus = "document.querySelectorAll('figure svg[tabindex]')[1]?.focus()"
        focused = browser.wait(f"({focus}, {label})")
        assert focused.startswith("Share of each client")
        add_round(folder, 2)
        browser.wait("document.querySelectorAll('figure tbody tr').length === 3")
        browser.wait(f"{label} === {json.dumps(focused)}")


@needs_browser
def test_a_run_that_has_been_silent_for_long_is_not_called_running(
    make_run, tmp_path
) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        assert "Running" in browser.js(STATUS)
        ago = time.time() - 630
        os.utime(folder / "metrics.jsonl", (ago, ago))
        browser.wait(f"{STATUS}.startsWith('No round has ended for 10 min')")
        assert "fedsemi run --resume" in browser.js(STATUS)
        add_round(folder, 2)
        browser.wait(f"{STATUS}.startsWith('Running')")


@needs_browser
def test_a_browser_that_finds_no_seat_says_so(make_run, tmp_path) -> None:
    limits = Limits(listeners=0)
    with (
        following(make_run(), limits=limits) as server,
        Browser(tmp_path / "profile") as browser,
    ):
        browser.open(server.address)
        browser.wait(f"{STATUS}.startsWith('Too many pages follow this run')")


@needs_browser
def test_what_gets_into_the_page_as_more_than_text_does_not_run(
    make_run, tmp_path
) -> None:
    with following(make_run()) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        browser.js("addEventListener('securitypolicyviolation', () => { seen += 1 })")
        browser.js("globalThis.seen = 0")
        image = "<img src='data:,' onerror='globalThis.ran = true'>"
        browser.js(f"document.getElementById('sites').innerHTML = {json.dumps(image)}")
        browser.js(
            "document.body.append(Object.assign(document.createElement('script'), "
            "{ textContent: 'globalThis.ran = true' }))"
        )
        browser.js("fetch('http://127.0.0.1:1/').catch(() => 0), 0")
        browser.wait("seen >= 3")
        assert browser.js("globalThis.ran") is None


@needs_browser
def test_a_browser_follows_a_resumed_run(tmp_path: Path) -> None:
    folder, short, longer = tmp_path / "run", tiny(rounds=1), tiny(rounds=2)
    record_new_run(short, run_simulation(short, 1), folder, "short", QUIET)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        assert "Finished: round 2 of 2" in browser.js("document.body.innerText")
        with RunFolder.resume(folder, longer) as again:
            steps = seen(browser, run_simulation(longer, 1, again.start), done=2)
            record_run(again, longer, steps, "longer", QUIET)
        browser.wait("document.body?.innerText.includes('Finished: round 3 of 3')", 60)


@needs_browser
@pytest.mark.parametrize("engine", ["local", "flower"])
def test_a_live_run_shows_its_rounds_and_that_it_is_over(
    engine: str, tmp_path: Path
) -> None:
    folder, config = tmp_path / "run", tmp_path / "config.json"
    config.write_text(tiny(rounds=40).experiment.model_dump_json())
    running = fedsemi(
        *("run", str(config), "--out", str(folder)), *("--engine", engine, "--live")
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().split(" at ")[1].split()[0]
        wait_for(lambda: (folder / "metrics.jsonl").is_file() and rounds_in(folder) > 1)
        with Browser(tmp_path / "profile") as browser:
            browser.open(address)
            browser.wait(f"{STATUS}.match(/Running.* round (\\d+) of/)?.[1] > 5", 60)
            assert running.wait(120) == 0
            browser.wait(f"{STATUS}.startsWith('Finished: round 41 of 41')")
    finally:
        running.kill()
        running.communicate()


@needs_browser
def test_a_browser_follows_a_run_elsewhere_that_is_stopped_and_resumed(
    tmp_path: Path,
) -> None:
    folder, config = tmp_path / "run", tmp_path / "config.json"
    config.write_text(tiny(rounds=5000).experiment.model_dump_json())
    running = fedsemi("run", str(config), "--out", str(folder), "--workers", "1")
    wait_for(lambda: (folder / "metrics.jsonl").is_file() and rounds_in(folder) > 1)
    watching = fedsemi("watch", str(folder))
    started = [running, watching]
    try:
        assert watching.stdout is not None
        address = watching.stdout.readline().split(" at ")[1].split()[0]
        with Browser(tmp_path / "profile") as browser:
            browser.open(address)
            running.send_signal(signal.SIGINT)
            assert running.wait(60) != 0
            done = rounds_in(folder)
            browser.wait(f"{STATUS}.includes('round {done} of 5001')")
            assert not browser.js(STATUS).startswith("Finished")
            started.append(fedsemi("run", "--resume", str(folder), "--workers", "1"))
            browser.wait(
                f"{STATUS}.match(/Running.* round (\\d+) of/)?.[1] > {done}", 60
            )
    finally:
        for process in started:
            process.kill()
            process.communicate()


def fedsemi(*arguments: str) -> subprocess.Popen[str]:
    """Start a command as a person would, in a process of its own."""
    command = [sys.executable, "-m", "fedsemi", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def rounds_in(folder: Path) -> int:
    return len((folder / "metrics.jsonl").read_text().splitlines())


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def seen(browser: Browser, steps: Iterator[Step], done: int = 0) -> Iterator[Step]:
    """Pass steps on, but no further one before the page shows the last."""
    for number, step in enumerate(steps, done + 1):
        yield step
        browser.wait(f"document.body?.innerText.includes('round {number} of')", 60)


def tiny(rounds: int) -> Simulation:
    return build(
        make_experiment(
            {
                "data": {"name": "synthetic", "train_limit": 80, "test_limit": 40},
                "partition": {"num_clients": 2, "min_size": 1},
                "model": {"name": "resnet8", "width": 4},
                "stages": [
                    {"method": "supervised", "rounds": 1},
                    {"method": "semianagg", "rounds": rounds},
                ],
            }
        )
    )
