"""The page that follows a run, in a real browser where there is one."""

from __future__ import annotations

import json
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.report.conftest import made_record

from fedsemi.errors import CannotCreate
from fedsemi.report.live import HOST, LivePage, following


def add_round(folder: Path, index: int) -> None:
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(made_record(index, 9, 4)) + "\n")


def get(server: LivePage, path: str, host: str = "localhost") -> tuple[int, str]:
    connection = HTTPConnection(HOST, server.server_port, timeout=5)
    connection.request("GET", path, headers={"Host": host})
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


def test_a_foreign_host_name_is_refused(make_run) -> None:
    with following(make_run()) as server:
        assert get(server, "/", host="evil.example")[0] == 403
        assert get(server, "/../config.json")[0] == 404


def test_a_run_that_has_not_begun_is_waited_for(tmp_path: Path) -> None:
    with following(tmp_path / "later") as server:
        status, text = get(server, "/")
    assert status == 503
    assert "not begun" in text


def test_a_port_in_use_is_named(make_run) -> None:
    folder = make_run()
    with following(folder) as server:
        port = server.server_port
        with pytest.raises(CannotCreate, match=f"port {port}"):
            LivePage(folder, port)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium")
def test_a_browser_shows_rounds_that_end_while_it_looks(make_run, tmp_path) -> None:
    folder = make_run(rounds=2)
    with following(folder) as server, Browser(tmp_path / "profile") as browser:
        browser.open(server.address)
        assert "round 2 of 2" in browser.js("document.body.innerText")
        add_round(folder, 2)
        browser.wait("document.body.innerText.includes('round 3 of 2')")
        add_round(folder, 3)
        browser.wait("document.body.innerText.includes('round 4 of 2')")
