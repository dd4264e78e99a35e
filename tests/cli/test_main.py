"""Mistakes in the command line itself are one line with a code, like all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import typer

import fedsemi
from fedsemi import cli
from fedsemi.cli import main
from fedsemi.errors import DataError


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rn"], "FS4112 No such command 'rn'. Did you mean 'run'?"),
        (["run", "--wrokers", "2"], "Did you mean '--workers'?"),
        (["run", "x.toml", "--workers", "-1"], "-1 is not in the range"),
        (["diff", "a"], "Missing argument 'B'; see `fedsemi diff --help`"),
        (["export", "x", "--format", "onxx"], "is not one of 'onnx'"),
    ],
)
def test_a_slip_in_the_command_line_is_one_line_and_exit_64(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["fedsemi", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert ended.value.code == 64


@pytest.fixture
def ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str]]]:
    """Let the command line meet an error; return exit code and lines of stderr."""

    def end(error: BaseException, *words: str) -> tuple[int, list[str]]:
        def app(**options: object) -> None:
            raise error

        monkeypatch.setattr(cli, "app", app)
        monkeypatch.setattr("sys.argv", ["fedsemi", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        code = stopped.value.code
        assert isinstance(code, int)
        return code, capsys.readouterr().err.splitlines()

    return end


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DataError("no images", "FS3001"), 65, "FS3001 no images"),
        (ZeroDivisionError("x / 0"), 70, "FS0000 a bug: ZeroDivisionError: x / 0;"),
        (MemoryError(), 75, "FS7101 there is no memory left"),
        (RuntimeError("CUDA out of memory"), 75, "FS7101 there is no memory left"),
        (typer.Abort(), 75, "FS1002 stopped"),
    ],
)
def test_whatever_is_raised_ends_in_one_line_with_its_exit_code(
    error: Exception, code: int, said: str, ended: Any
) -> None:
    number, (line,) = ended(error)
    assert number == code and line.startswith(f"fedsemi: {said}")


def test_debug_shows_the_traceback_above_the_line_and_marks_it(
    ended: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = DataError("broken\nfedsemi: all is well", "FS3001")
    _, lines = ended(error, "--debug", "run")
    *trace, last = lines
    assert last.startswith("fedsemi: FS3001 broken")
    assert len(trace) > 2 and all(line.startswith("| ") for line in trace)
    monkeypatch.setenv("FEDSEMI_DEBUG", "1")
    assert len(ended(error, "run")[1]) > 3


def test_an_error_with_a_line_break_is_still_one_line(ended: Any) -> None:
    _, lines = ended(ValueError("one\ntwo\x1b[2J"))
    (line,) = lines
    assert line.isprintable()


def test_the_version_is_the_installed_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fedsemi", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    assert capsys.readouterr().out == f"fedsemi {fedsemi.__version__}\n"


def test_without_a_command_the_help_is_shown_and_it_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fedsemi"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 64
    assert "fedsemi demo" in "".join(capsys.readouterr())
