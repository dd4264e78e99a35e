"""The report as a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fedsemi.report.build import report
from fedsemi.report.run import read_run

LIMIT = 10_000_000


def data_of(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found
    return json.loads(found[1])


def test_the_page_asks_the_network_for_nothing(real_run: Path) -> None:
    page = report([read_run(real_run)])
    links = re.findall(r"""(?:src|href)\s*=\s*["']([^"'#$]+)""", page)
    assert links == ["data:,"]
    addresses = set(re.findall(r"https?://[^\s\"']+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, never fetched
    assert "@import" not in page
    assert not data_of(page)["live"]


def test_a_hostile_name_stays_text(make_run) -> None:
    folder = make_run()
    (folder / "analysis.json").write_text(
        json.dumps({"class_names": ["</script><script>alert(1)</script>", "{{DATA}}"]})
    )
    page = report([read_run(folder)])
    assert "<script>alert" not in page
    assert data_of(page)["runs"][0]["class_names"][1] == "{{DATA}}"


def test_500_rounds_of_50_clients_stay_small(make_run) -> None:
    page = report([read_run(make_run(rounds=500, clients=50))])
    assert len(page.encode()) < LIMIT
    assert len(data_of(page)["runs"][0]["clients"]["contribution"][49]) == 500
