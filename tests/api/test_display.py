"""What a program shows: live, in a notebook, in a log, or nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.api.conftest import SMALL

import fedsemi
from fedsemi.api.display import (
    NotebookProgress,
    SparseProgress,
    display_for,
    screen,
)
from fedsemi.text.screen import Screen
from fedsemi.use.progress import Progress


@pytest.mark.parametrize(
    ("kind", "display"),
    [
        ({"force_terminal": True}, Progress),
        ({"force_jupyter": True}, NotebookProgress),
        ({"force_terminal": False}, SparseProgress),
        ({"quiet": True}, Progress),
    ],
)
def test_each_place_has_its_display(kind: dict[str, bool], display: type) -> None:
    assert display_for(Screen(**kind)) is display


def test_a_log_gets_twenty_lines_of_a_long_run_and_the_last_one(
    arrays: fedsemi.Sites, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = SMALL | {"stages": [("supervised", 50)], "progress": True}
    fedsemi.simulate(arrays, **long, out=tmp_path / "run", evaluation={"every": 50})
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("run: stage 1/1")]
    assert len(shown) == 20
    assert "round 50/50" in shown[-1]


def test_nothing_is_printed_if_nobody_asks(
    arrays: fedsemi.Sites, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fedsemi.simulate(arrays, **SMALL, out=tmp_path / "run")
    assert capfd.readouterr() == ("", "")
    assert screen(False).quiet


def test_a_notebook_gets_one_line_that_is_rewritten(
    arrays: fedsemi.Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    updates: list[str] = []

    def display(bundle: dict[str, str], raw: bool, display_id: bool) -> Any:
        shown.append(bundle["text/plain"])

        def update(bundle: dict[str, str], raw: bool) -> None:
            updates.append(bundle["text/plain"])

        return SimpleNamespace(update=update)

    module: Any = SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("fedsemi.api.training.display_for", lambda _: NotebookProgress)
    fedsemi.simulate(arrays, **SMALL, out=tmp_path / "run")
    assert len(shown) == 1 and len(updates) == 3
    assert updates[-1].startswith("█" * 20)
