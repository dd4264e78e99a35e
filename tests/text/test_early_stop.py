"""Ctrl-C at any moment of the imports is one line, as it is later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fedsemi
from fedsemi.errors import Interrupted
from fedsemi.text.early_stop import listen_as_usual, listen_early

SOURCE = str(Path(fedsemi.__file__).parents[1])


def hear() -> None:
    """Undo what a shell does to the programs that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stopped(moment: str, *words: str) -> tuple[int, list[str]]:
    """Send SIGINT as soon as a module has been imported; return code and lines."""
    command = [sys.executable, "-X", "importtime", "-m", "fedsemi", *words]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": SOURCE},
        preexec_fn=hear,
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            imported = line.startswith("import time:")
            if imported and line.split("|")[-1].strip() == moment:
                process.send_signal(signal.SIGINT)
            elif not imported:
                lines.append(line.rstrip("\n"))
    return process.returncode, lines


@pytest.mark.parametrize(
    "moment",
    [
        "click.core",
        "typer",
        "fedsemi.errors",
        "fedsemi.cli",
        "numpy",
        "torch.torch_version",
        "torch",
        "pydantic",
        "fedsemi.config.experiment",
    ],
)
def test_ctrl_c_during_imports_is_one_line_and_the_usual_code(
    moment: str, tmp_path: Path
) -> None:
    words = ["run", "demo", "--out", str(tmp_path / "run"), "--set", "seed=x"]
    code, lines = stopped(moment, *words)
    assert lines == ["fedsemi: FS1002 stopped"]
    assert code == Interrupted.exit_code


def test_ctrl_c_in_a_command_is_one_line_too() -> None:
    script = """
import os, signal, sys
from fedsemi.__main__ import main
import fedsemi.cli.configs
def press(*_): os.kill(os.getpid(), signal.SIGINT)
fedsemi.cli.configs._show = press
sys.argv = ["fedsemi", "configs"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": SOURCE},
        preexec_fn=hear,
    )
    assert done.stderr.splitlines() == ["fedsemi: FS1002 stopped"]
    assert done.returncode == Interrupted.exit_code


def test_who_ignores_signals_or_listens_already_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        listen_early()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        listen_as_usual()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.signal(signal.SIGINT, signal.default_int_handler)
        listen_early()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        listen_as_usual()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
