"""Records that somebody spoiled end in one line, never in "a bug"."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.config.blueprint import read_blueprint
from fedsemi.config.experiment import load_config
from fedsemi.data.partition import Partition
from fedsemi.data.site import read_site
from fedsemi.errors import FedSemiError
from fedsemi.evidence.records import read_metrics
from fedsemi.report.run import read_run
from fedsemi.runs.folder import read_json
from fedsemi.runs.model_card import read_card
from fedsemi.text.json_text import MAX_DEPTH, parsed, parsed_object

BAD = {
    "deep": b"[" * 200_000,
    "deep and whole": b'{"a":' * 500 + b"1" + b"}" * 500,
    "not UTF-8": b'{"stage": "\xff\xfe"}',
    "cut": b'{"stage": ',
    "a list": b"[1]",
    "no JSON": b"\x00\x01",
    "a number": b"7",
}
RECORDS = ("config.json", "manifest.json", "summary.json", "analysis.json")


def one_line(error: FedSemiError) -> bool:
    return error.code != "FS0000" and "\n" not in str(error) and len(str(error)) < 400


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_spoiled_record_of_a_run_is_one_line(content, tmp_path, real_run):
    run = shutil.copytree(real_run, tmp_path / "run")
    for name in (*RECORDS, "metrics.jsonl"):
        whole = (run / name).read_bytes()
        (run / name).write_bytes(content + b"\n")
        with pytest.raises(FedSemiError) as raised:
            read_run(run)
        assert one_line(raised.value)
        (run / name).write_bytes(whole)
    assert read_run(run).records


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("summary.json", lambda folder: read_json(folder / "summary.json")),
        ("metrics.jsonl", read_metrics),
        ("model.json", read_card),
        ("site.json", read_site),
        (
            "plan.json",
            lambda at: read_blueprint((at / "plan.json").read_bytes()),
        ),
        ("config.json", lambda folder: load_config(folder / "config.json")),
        ("p.json", lambda folder: Partition.load(folder / "p.json")),
    ],
)
def test_whoever_reads_json_says_what_is_wrong(content, name, read, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FedSemiError) as raised:
        read(tmp_path)
    assert one_line(raised.value), raised.value


def test_a_line_about_no_round_is_damaged(tmp_path, real_run):
    run = shutil.copytree(real_run, tmp_path / "run")
    (run / "metrics.jsonl").write_bytes(b'{"stage": 0}\n')
    with pytest.raises(FedSemiError, match=r"FS1104 line 1 .*\(it lacks 'method'\)"):
        read_run(run)


def test_a_plan_of_megabytes_is_not_parsed():
    with pytest.raises(FedSemiError, match=r"FS4106 .*larger than 1000 kB"):
        read_blueprint('{"views": "' + "x" * 1_000_000 + '"}')


@given(st.integers(1, 3 * MAX_DEPTH))
def test_nesting_is_refused_at_a_depth_that_does_not_depend_on_the_stack(depth):
    text = "[" * depth + "]" * depth
    if depth <= MAX_DEPTH:
        assert parsed(text) is not None
    else:
        with pytest.raises(ValueError, match="nested too deeply"):
            parsed(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_object_or_a_value_error(content):
    with suppress(ValueError):
        assert isinstance(parsed_object(content), dict)
