"""How long the command line takes until it says something."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from benchmarks.common import ROOT, Section, against, medians

_BARE = ("-c", "import typer, rich.table")
_SAID = {
    "`fedsemi --help`": ({}, ("--help",), 0.3),
    "`fedsemi methods`": ({}, ("methods",), 1.0),
    "`fedsemi methods semianagg`": ({}, ("methods", "semianagg"), 1.0),
    "completing `fedsemi run demo --set st`": (
        {
            "_FEDSEMI_COMPLETE": "complete_bash",
            "COMP_WORDS": "fedsemi run demo --set st",
            "COMP_CWORD": "4",
        },
        (),
        0.3,
    ),
}
"""What is asked, by which variables and words, and the aim in processor seconds."""


def first_words(times: int) -> Section:
    """Item 11: help, methods and completion against a bare import of typer and rich."""
    asked = [
        partial(_run, ("-m", "fedsemi", *words), variables)
        for variables, words, _ in _SAID.values()
    ]
    bare, *taken = medians([partial(_run, _BARE, {}), *asked], times, _of_children)
    rows = []
    for (name, (_, _, aim)), seconds in zip(_SAID.items(), taken, strict=True):
        times_bare = f"{seconds / bare:.1f}"
        cells = against(seconds, aim, "{:.2f}")
        rows.append([name, f"{bare:.2f} s", times_bare, *cells])
    return Section(
        "First words",
        "Processor seconds of a whole process, from the start of the interpreter to "
        "its end, beside one that imports `typer` and `rich` and does nothing.",
        ["asked", "typer alone", "times that", "seconds", "aim", ""],
        rows,
    )


def _run(words: tuple[str, ...], variables: dict[str, str]) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")} | variables
    command = [sys.executable, *words]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def _of_children() -> float:
    """Return the processor seconds of all processes that were started and ended."""
    spent = os.times()
    return spent.children_user + spent.children_system
