"""`fedsemi ask` at a site, and `fedsemi label-curve` in simulation."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.data.pictures import make_site
from typer.testing import CliRunner, Result

from fedsemi.asking.rules import RULES
from fedsemi.cli import app
from fedsemi.cli.ask import By
from fedsemi.errors import ConfigError, RunInUse
from fedsemi.runs.lock import RunLock


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path / "ward", {"": 9})


def fedsemi(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_every_rule_can_be_named() -> None:
    assert [each.value for each in By] == list(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_can_be_printed_without_a_page(
    rule: str, real_run: Path, site: Path
) -> None:
    done = fedsemi(
        "ask", real_run, "--data", site, "--budget", 4, "--by", rule, "--list", "-"
    )
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["place"] for row in rows] == ["1", "2", "3", "4"]
    assert len({row["file"] for row in rows}) == 4
    assert sorted(path.name for path in site.iterdir()) == sorted(
        f"{number}.png" for number in range(9)
    ), "a list changes nothing at the site"


def test_a_list_that_is_saved_is_its_owners_alone(
    real_run: Path, site: Path, tmp_path: Path
) -> None:
    target = tmp_path / "lists" / "next.csv"
    done = fedsemi("ask", real_run, "--data", site, "--list", target)
    assert done.exit_code == 0, done.output
    assert target.read_text().count("\n") == 10
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_simulated_run_is_told_to_measure_a_curve(real_run: Path) -> None:
    with pytest.raises(ConfigError, match="FS6401"):
        raise fedsemi("ask", real_run).exception  # type: ignore[misc]


def test_two_pages_for_one_folder_are_one_too_many(real_run: Path, site: Path) -> None:
    lock = RunLock(site)
    try:
        with pytest.raises(RunInUse):
            raise fedsemi("ask", real_run, "--data", site).exception  # type: ignore[misc]
    finally:
        lock.release()


def posted(address: str, path: str) -> int:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=20)
    origin = f"http://{parts.netloc}"
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", f"{parts.path}{path}", headers=headers)
    return connection.getresponse().status


@pytest.mark.slow
def test_answers_are_kept_when_the_page_is_killed_and_counted_when_it_ends(
    real_run: Path, site: Path
) -> None:
    command = [sys.executable, "-m", "fedsemi", "ask", str(real_run)]
    command += ["--data", str(site), "--budget", "3"]
    for answers, ending in ((("label/0/1", "skip/1"), signal.SIGKILL), ((), 0)):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first, _ = process.stdout.readline(), process.stdout.readline()
        address = re.findall(r"http://\S+", first)[0]
        assert [posted(address, path) for path in answers] == [200] * len(answers)
        os.kill(process.pid, ending or signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert first.startswith("3 pictures are asked about at http://127.0.0.1:")
    assert "1 of 3 have a label, 1 were skipped" in rest
    kept = json.loads((site / ".fedsemi-ask.json").read_text())
    table = (site / "labels.csv").read_text()
    assert table.splitlines()[1].startswith(kept["asked"][0]["file"])
    assert kept["skipped"] == [kept["asked"][1]["file"]]


def test_a_curve_ends_with_what_it_means(tmp_path: Path) -> None:
    config = tmp_path / "small.toml"
    config.write_text(
        'data = { name = "synthetic", train_limit = 80, test_limit = 20 }\n'
        "partition = { num_clients = 3, min_size = 5 }\n"
        'model = { name = "resnet8", width = 2 }\n'
        'stages = [{ method = "supervised", rounds = 1 }]\n'
    )
    out = tmp_path / "out"
    words = ("label-curve", config, "--budgets", "0, 6", "--rules", "balance")
    done = fedsemi(*words, "--seeds", 2, "--out", out)
    assert done.exit_code == 0, done.output
    assert "[6/6] seed 2, random, 6 labels:" in done.output
    assert "6 labels at random against none:" in done.output
    assert {path.name for path in out.iterdir()} == {
        "seed-1.json",
        "seed-2.json",
        "curve.md",
        "curve.csv",
        "curve.svg",
    }
    again = fedsemi(*words, "--seeds", 2, "--out", out)
    assert again.output.count("known already") == 6


@pytest.mark.parametrize("budgets", ["", "many", "50;100", "-3"])
def test_budgets_that_are_no_numbers_are_one_clean_line(budgets: str) -> None:
    with pytest.raises(ConfigError, match="FS6408"):
        raise fedsemi("label-curve", "digits", f"--budgets={budgets}").exception  # type: ignore[misc]


def test_an_unknown_rule_is_named_with_its_neighbor() -> None:
    with pytest.raises(ConfigError, match=r"FS4104 .*did you mean 'coverage'"):
        raise fedsemi("label-curve", "digits", "--rules", "coverge").exception  # type: ignore[misc]
