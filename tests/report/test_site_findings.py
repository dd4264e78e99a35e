"""What counts of deployed sites say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedsemi.client.findings import named
from fedsemi.messages import Findings
from fedsemi.report.run import read_run
from fedsemi.report.site_findings import found_by_sites
from fedsemi.report.view import view_of
from fedsemi.runs.records import ClientRecord

_BINS = (0.0,) * 12


def client(count: tuple[float, ...], right: tuple[float, ...]) -> ClientRecord:
    """A site that found this, with gaps of 2 and 1 in two bins of confidence."""
    bins = (sum(count), 0.0, *_BINS)
    gaps = (2.0, -1.0, *_BINS)
    found = Findings((1.0,), count, right, bins, (0.0, 0.0, *_BINS), gaps)
    return ClientRecord(30, 0, 0, 0.5, metrics=named(found))


def test_recall_and_calibration_follow_from_counts() -> None:
    found = found_by_sites({3: client((20, 10, 0), (15, 10, 0))}, ("a", "b", "c"))
    site = found["3"]
    assert site["num"] == 30
    assert site["scores"]["missing"] == ["c"]
    assert site["scores"]["accuracy"]["value"] == pytest.approx(25 / 30)
    balanced = site["scores"]["balanced_accuracy"]
    assert balanced["value"] == pytest.approx((0.75 + 1) / 2)
    assert balanced["low"] < 0.8 and balanced["high"] >= 0.875
    assert site["calibration_error"] == pytest.approx(3 / 30)
    assert site["classes"][0]["recall"]["low"] == pytest.approx(0.531, abs=1e-3)
    assert site["classes"][2] == {"name": "c", "num": 0, "recall": None}


def test_a_site_of_few_images_tells_their_number_only() -> None:
    assert found_by_sites({1: client((4, 2), (4, 2))}, ("a", "b")) == {"1": {"num": 6}}


def test_sites_that_send_nothing_are_not_there() -> None:
    silent = ClientRecord(0, 50, 10, 0.5, metrics={"loss": 1.0})
    assert found_by_sites({0: silent}, ("a", "b")) == {}


def test_the_page_of_a_deployed_run_has_what_its_sites_sent(make_run) -> None:
    run = read_run(make_run())
    clients = {**run.records[-1].clients, 0: client((20, 10), (15, 10))}
    run.records[-1] = replace(run.records[-1], clients=clients)
    run = replace(run, analysis={"class_names": ["a", "b"]})
    shown = view_of([run])["runs"][0]["evaluation"]
    assert shown["sites"]["0"]["num"] == 30
    assert "counted there" in shown["sites_on"]
