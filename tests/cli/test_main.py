"""Mistakes in the command line itself are one line with a code, like all others."""

from __future__ import annotations

import pytest

from fedsemi.cli import main


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
