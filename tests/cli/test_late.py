"""Asking for help imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app


def _python(code: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return found.stdout


def test_help_and_slips_wait_for_no_heavy_import() -> None:
    code = """
import sys
from typer.testing import CliRunner
from fedsemi.cli import app
for arguments in (["--help"], ["rnu"], ["--version"]):
    CliRunner().invoke(app, arguments)
heavy = ("torch", "numpy", "pydantic", "sklearn")
print([name for name in heavy if name in sys.modules])
"""
    assert _python(code).strip() == "[]"


def test_a_slip_in_the_name_of_a_command_is_answered_with_the_nearest() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "fedsemi", "rnu", "demo"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 64
    assert "No such command 'rnu'" in found.stderr and "'run'" in found.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["check"], "Folders, one a site, or one config."),
        (["site", "policy"], "The site's folder."),
    ],
)
def test_help_says_what_arguments_are(command: list[str], words: str) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "100"})
    assert words in shown.output
