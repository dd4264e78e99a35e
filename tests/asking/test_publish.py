"""The page on asking says what the records say, written by a command."""

from __future__ import annotations

import shutil
from pathlib import Path

import fedsemi
from fedsemi.asking.publish import FOLDER, PAGE, PLOTS, publish, verdict
from fedsemi.asking.records import read_records

from .made import made, three_seeds

ROOT = Path(fedsemi.__file__).parents[2]


def test_what_is_published_is_what_the_records_say(tmp_path: Path) -> None:
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    for path in (tmp_path / FOLDER).rglob("curve.*"):
        path.unlink()
    (tmp_path / PLOTS).mkdir(parents=True)
    shutil.copy(ROOT / PAGE, tmp_path / PAGE)

    publish(tmp_path)

    for path in tmp_path.rglob("*.*"):
        name = path.relative_to(tmp_path)
        if path.is_file():
            same = path.read_bytes() == (ROOT / name).read_bytes()
            assert same, f"{name}: make results"
    assert len(list((tmp_path / PLOTS).iterdir())) == 2


def test_it_is_said_in_one_sentence_whether_anything_beats_random() -> None:
    ahead, even = three_seeds(), [made(n, base=5, random_9=5) for n in (1, 2)]
    assert verdict({"a": even, "b": even}) == (
        "**No rule beat random** on a or b at any budget."
    )
    assert verdict({"a": ahead, "b": even}) == (
        "**What beat random:** coverage on a at 20 labels."
    )


def test_both_data_sets_have_seeds_enough_for_an_interval() -> None:
    for folder in (ROOT / FOLDER).iterdir():
        records = read_records(folder)
        assert len(records) >= 2
        assert len({record.config["data"]["name"] for record in records}) == 1
