"""What somebody new types in the first hour works: from the wheel, on an empty disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .blocks import commands
from .command_line import fault

SCRIPT = Path(__file__).parents[1] / "examples" / "first_hour.sh"
TEXT = SCRIPT.read_text("utf-8").replace("\\\n", " ")
STEPS = [
    words
    for line in re.findall(r"^(?:works|ends|slip) .*", TEXT, re.M)
    for words in commands(line)
]


def after(words: list[str], name: str) -> list[str]:
    return words[words.index(name) + 1 :]


def test_the_script_types_what_a_newcomer_needs() -> None:
    typed = {after(words, "fedsemi")[0] for words in STEPS}
    assert typed >= {
        *("--help", "methods", "settings", "configs", "datasets"),
        *("init", "check", "run", "report", "compare", "predict", "export"),
    }
    assert sum(words[0] == "slip" for words in STEPS) >= 10


@pytest.mark.parametrize(
    "words", [w for w in STEPS if w[0] != "slip"], ids=lambda words: " ".join(words)
)
def test_its_commands_have_options_that_exist(words: list[str]) -> None:
    typed = [word for word in after(words, "fedsemi") if word != "$small"]
    assert fault(typed) is None


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_first_hour_works_from_the_wheel(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(SCRIPT)],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "steps, all as expected" in done.stdout
