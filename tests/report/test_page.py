"""The report in a real browser: sizes, keyboard, screen readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.browser import CHROMIUM, Browser

from fedsemi.report.build import report
from fedsemi.report.run import read_run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium"),
]

TEXT_OUTSIDE = """
const charts = [...document.querySelectorAll('figure svg[role=img]')];
charts.flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter((text) => {
    const r = text.getBoundingClientRect();
    return r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1;
  }).map((text) => svg.getAttribute('aria-label') + ': ' + text.textContent);
})"""


@pytest.fixture
def browser(tmp_path: Path):
    with Browser(tmp_path / "profile") as found:
        yield found


def save(tmp_path: Path, *folders: Path) -> str:
    path = tmp_path / "report.html"
    path.write_text(report([read_run(folder) for folder in folders]))
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off(browser, real_run, make_run, tmp_path, width) -> None:
    for folders in ([real_run], [real_run, make_run(clients=50)]):
        browser.open(save(tmp_path, *folders), width=width)
        assert browser.js("document.documentElement.scrollWidth") <= width
        assert browser.js(TEXT_OUTSIDE) == []


def test_the_charts_speak_and_obey_the_keyboard(browser, make_run, tmp_path) -> None:
    browser.open(save(tmp_path, make_run(rounds=5)))
    svgs = "[...document.querySelectorAll('main figure svg[role=img]')]"
    assert browser.js(f"{svgs}.every((svg) => svg.getAttribute('aria-label'))")
    assert browser.js("document.querySelectorAll('h1').length") == 1
    browser.js(f"{svgs}[0].focus()")
    browser.key("ArrowLeft")
    tip = browser.js("document.getElementById('tip').innerText")
    assert "round 4" in tip
    assert "accuracy: 74.0 %" in tip
    browser.key("Escape")
    assert browser.js("document.getElementById('tip').hidden")


def test_the_numbers_behind_a_chart_are_a_table(browser, make_run, tmp_path) -> None:
    browser.open(save(tmp_path, make_run(clients=12)))
    title = "Share of each client in the global model"
    figures = "[...document.querySelectorAll('figure')]"
    figure = f"{figures}.find((f) => f.innerText.includes('{title}'))"
    browser.js(f"{figure}.querySelector('details').open = true")
    browser.wait(f"!!{figure}.querySelector('table')")
    row = browser.js(f"{figure}.querySelector('tbody tr').innerText").split("\t")
    head = browser.js(f"{figure}.querySelector('thead tr').innerText").split("\t")
    assert row[head.index("client 9")] == "13.6 %"  # 9 / 66


def test_no_image_found_differs_from_no_image_there(
    browser, make_run, tmp_path
) -> None:
    folder = make_run()
    group = {"group": "f", "num": 7, "accuracy": 0.5, "balanced_accuracy": 0.25}
    group["recall"] = [0.0, 0.5, None, None]
    names = ["a", "b", "c", "d"]
    content = {"class_names": names, "subgroups": {"sex": [group]}}
    (folder / "analysis.json").write_text(json.dumps(content))
    browser.open(save(tmp_path, folder))
    chart = "document.querySelector('svg[aria-label^=\"Recall by sex\"]')"
    texts = browser.wait(
        f"[...{chart}.querySelectorAll('text')].map(t => t.textContent)"
    )
    assert texts[-4:] == ["f (7)", "25", "0", "50"]


def test_an_unfinished_run_is_not_compared_as_if_it_had_ended(
    browser, make_run, tmp_path
) -> None:
    low = make_run("low", stages=[{"method": "supervised", "rounds": 9}])
    browser.open(save(tmp_path, low, make_run("other")))
    said = browser.js("document.querySelector('figure').innerText")
    assert "lower bound, unfinished: round 3 of 9" in said
    assert "closes" not in said


def test_the_page_draws_without_errors(browser, real_run, tmp_path) -> None:
    browser.open(save(tmp_path, real_run), scheme="dark")
    back = "getComputedStyle(document.body).backgroundColor"
    assert browser.js(back) == "rgb(18, 22, 27)"
    heads = browser.js("[...document.querySelectorAll('h2')].map((h) => h.innerText)")
    assert heads[0] == "Result"
    assert "Model card" in heads


def add_sites(folder: Path, name: str = "hospital-{}") -> None:
    """Make a run one on own images: sites with names, and no truth."""
    clients = {
        str(k): {
            "site": name.format(k),
            "num_labeled": 0 if k else 50,
            "num_unlabeled": 100 + k if k else 0,
            "num_held_out": 0 if k else 9,
            "class_count": [0 if k else 59, 0],
        }
        for k in range(4)
    }
    data = {"name": "folders", "origin": "", "test": 7, "train": 0, "left_out": 12}
    content = {"data": data, "clients": clients, "labeled_only": True}
    content["class_names"] = ["a", "b"]
    (folder / "analysis.json").write_text(json.dumps(content))
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for own in records[-1]["clients"].values():
        guess = {"accuracy": 0.5, "low": 0.25, "high": 0.75}
        own |= {"pseudo_label_accuracy": None, "pseudo_label_estimate": guess}
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "metrics.jsonl").write_text(text)
    result = {"result": {"mean_of_last_10": {}, "last_round": {}}}
    (folder / "summary.json").write_text(json.dumps(result))


def test_own_sites_are_named_and_nothing_is_said_of_a_truth(
    browser, make_run, tmp_path
) -> None:
    folder = make_run()
    add_sites(folder)
    browser.open(save(tmp_path, folder))
    said = browser.js("document.body.innerText")
    assert "client 0 = hospital-0, client 1 = hospital-1" in said
    assert "12 files were left out, see left_out.csv." in said
    assert "Labeled images only" in said
    assert "356 images to learn from" in said  # 50 + 101 + 102 + 103
    assert "mean of the last 3 tests" in said
    chart = "document.querySelector('svg[aria-label^=\"Pseudo-label accuracy by\"]')"
    texts = browser.wait(
        f"[...{chart}.querySelectorAll('text')].map(t => t.textContent)"
    )
    assert "client 1 (hospital-1)" in texts
    assert "50.0 %" in texts
    assert "truth" not in " ".join(texts)


@pytest.mark.parametrize("width", [1200, 390])
def test_long_names_of_sites_are_not_cut_off(
    browser, make_run, tmp_path, width
) -> None:
    folder = make_run()
    add_sites(folder, "department-of-dermatology-and-venereology-{}")
    browser.open(save(tmp_path, folder), width=width)
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.js(TEXT_OUTSIDE) == []


def test_runs_that_coincide_are_both_seen(browser, make_run, tmp_path) -> None:
    folders = [make_run(name) for name in ("a", "b", "c", "d")]
    alarm = {"stage": 0, "round": 2, "kind": "hurt", "what": "Lost."}
    alarm |= {"remedy": "Look."}
    (folders[0] / "alarms.jsonl").write_text(json.dumps(alarm) + "\n")
    browser.open(save(tmp_path, *folders))
    chart = "document.querySelector('svg[aria-label^=\"Test accuracy over\"]')"
    lines = f"[...{chart}.querySelectorAll('path')]"
    dashes = browser.wait(f"{lines}.map(p => p.getAttribute('stroke-dasharray'))")
    assert dashes[0] == ""  # the solid line lies below the others
    assert len(set(dashes)) == 4
    heads = browser.js("[...document.querySelectorAll('h2')].map((h) => h.innerText)")
    assert "Alarms: a" in heads


def test_what_the_guard_cut_is_shown_round_by_round(
    browser, make_run, tmp_path
) -> None:
    folder = make_run(guard={"enabled": True})
    written = (folder / "metrics.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in written]
    cut = {"client": 3, "round": 1, "code": "FS2109", "reason": "cut", "part": 0.25}
    lines[1]["notices"] = [cut, {**cut, "code": "FS2142", "client": None}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text)
    browser.open(save(tmp_path, folder))
    table = "[...document.querySelectorAll('table')].find((t) => t.caption?.innerText"
    rows = browser.js(
        f"[...{table} === 'What the guard cut').rows].map(r => r.innerText)"
    )
    assert [row.split("\t") for row in rows[1:]] == [
        ["2", "client 3", "share of the mean", "25.0 %"],
        ["2", "all", "steps of all clients without labels", "25.0 %"],
    ]
    body = "document.body.innerText"
    assert "cut something in 1 of 3 rounds" in browser.js(body)
    browser.open(save(tmp_path, make_run("calm", guard={"enabled": True})))
    assert "on and cut nothing in 3 rounds" in browser.js(body)
