"""Asking for help imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


_UNINSTALLED = """
import importlib.metadata as packages
import sys
sys.modules["flwr"] = None
asked = packages.version
def version(name):
    if name == "flwr":
        raise packages.PackageNotFoundError(name)
    return asked(name)
packages.version = version
"""
_DAMAGED = "import sys; sys.modules['flwr'] = None\n"
"""Flower is listed as installed, and cannot be imported."""


def _without_flower(*arguments: str, how: str = _UNINSTALLED) -> str:
    """Run a command where there is no Flower; its exit code and output."""
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            how + "from fedsemi.cli import main; main()",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{found.returncode} {found.stdout}{found.stderr}"


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("federation", _UNINSTALLED),
        ("federation", _DAMAGED),
        ("key", _UNINSTALLED),
        ("server", _UNINSTALLED),
        ("certificates", _UNINSTALLED),
    ],
)
def test_a_command_without_flower_says_what_to_install(
    command: str, how: str, tmp_path: Path
) -> None:
    said = _without_flower(command, str(tmp_path), how=how)
    assert said.startswith("64 ") and "FS0000" not in said
    assert "FS5004" in said and "pip install 'fedsemi[flower]'" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["federation", "--help"],
        ["site", "--help"],
        ["site", "policy", "--help"],
        ["agree", "--help"],
        ["wire", "digits"],
    ],
)
def test_help_and_what_sends_nothing_needs_no_flower(arguments: list[str]) -> None:
    said = _without_flower(*arguments)
    assert said.startswith("0 ") and "fedsemi: FS" not in said


def test_agreeing_needs_no_flower(tmp_path: Path) -> None:
    said = _without_flower("agree", str(tmp_path / "x"), str(tmp_path / "y"))
    assert "fedsemi: FS" in said and "FS0000" not in said
