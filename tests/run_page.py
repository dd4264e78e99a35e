"""Type what a page says into an empty folder, as a reader would.

Python and the command line are two ways to do the same, so each has a folder of its
own. Files that a page holds, or links to in examples/, lie in both, and what these
write when the page runs them is in both as well.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fedsemi.text.printable import printable

from .blocks import ROOT, SHELL, Block, commands

_MARK = "@@ "
_TERMINAL = re.compile(r"^(.*\S)\s+# terminal (\d+)\b.*$")
_FEDSEMI = """#!/bin/sh
PYTHONPATH="{source}:$PYTHONPATH" exec "{python}" -P -m fedsemi "$@"
"""


def run_shell(blocks: list[Block], folder: Path) -> None:
    """Run the commands of a page in one shell; compare the outputs that it shows."""
    typed = [block for block in blocks if block.language in SHELL]
    _prepared(blocks, folder)
    script = "set -euo pipefail\nshopt -s nullglob\n" + "".join(map(_lines, typed))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=_environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    _, *parts = done.stdout.split(_MARK)
    assert done.returncode == 0, f"{parts[-1] if parts else done.stdout}"
    for block, part in zip(typed, parts, strict=True):
        _compare(block, part)


def run_python(blocks: list[Block], folder: Path) -> None:
    """Run the Python of a page as one program, whose lines are those of the page."""
    typed = [b for b in blocks if b.language == "python" and not b.file]
    _prepared(blocks, folder)
    _run_files(blocks, folder)
    lines: list[str] = []
    for block in typed:
        lines += [""] * (block.line - 1 - len(lines))
        lines += block.typed().splitlines()
    program = folder / typed[0].page.with_suffix(".py").name
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = _environment(folder)
    environment["PYTHONPATH"] = str(ROOT / "src")
    done = subprocess.run(
        [sys.executable, program.name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    program.unlink()
    assert done.returncode == 0, f"{typed[0].page.name}: {done.stderr}"


def only_runs_files(block: Block) -> bool:
    """Tell whether a block does nothing but run Python files of the page."""
    return block.language in SHELL and all(
        words[0] == "python" and len(words) == 2 for words in commands(block.typed())
    )


def _run_files(blocks: list[Block], folder: Path) -> None:
    for block in filter(only_runs_files, blocks):
        subprocess.run(
            ["bash", "-ec", block.typed()],
            cwd=folder,
            env=_environment(folder),
            check=True,
        )


def _prepared(blocks: list[Block], folder: Path) -> None:
    """Write the files of the page, and those that it links to in examples/."""
    folder.mkdir()
    for block in blocks:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    page = blocks[0].page.read_text("utf-8")
    for name in re.findall(r"\]\((?:\.\./)?(examples/\w+\.py)\)", page):
        shutil.copy(ROOT / name, folder)


def _environment(folder: Path) -> dict[str, str]:
    """Return variables of a user who has nothing but the package."""
    tools = folder.parent / "bin"
    tools.mkdir(exist_ok=True)
    source = ROOT / "src"
    command = _FEDSEMI.format(source=source, python=sys.executable)
    (tools / "fedsemi").write_text(command)
    (tools / "fedsemi").chmod(0o755)
    left_out = {"PYTHONPATH", "FEDSEMI_DATA", "FEDSEMI_DEBUG"}
    here = {name: text for name, text in os.environ.items() if name not in left_out}
    path = f"{tools}:{Path(sys.executable).parent}:{here['PATH']}"
    home = str(folder.parent / "home")
    return here | {
        "PATH": path,
        "HOME": home,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": "",
        "COLUMNS": "80",
    }


def _lines(block: Block) -> str:
    """Return the script of a block, begun by a mark with its place."""
    lines = block.typed().splitlines()
    first, others, text = [], [], [f"echo; echo '{_MARK}{block.place}'"]
    for line in lines:
        if found := _TERMINAL.match(line):
            (others if first else first).append(found[1])
        else:
            text.append(line)
    if block.ends_with:
        text[-1] = f"code=0; {text[-1]} || code=$?; test $code = {block.ends_with}"
    if first:
        text += [f"{first[0]} & first=$!", "rest=()"]
        text += [f"{line} & rest+=($!)" for line in others]
        text += ["wait $first", 'kill "${rest[@]}"', 'wait "${rest[@]}" || true']
    return "\n".join(text) + "\n"


def _compare(block: Block, output: str) -> None:
    """Find what a block shows after its prompts in what was printed.

    Line breaks do not count, and `…` stands for anything.
    """
    if "\n$ " not in f"\n{block.text}":
        return
    shown = [s for s in block.text.splitlines() if not s.startswith("$ ")]
    printed = " ".join(output.split())
    for piece in " ".join(shown).split("…"):
        wanted = " ".join(piece.split())
        assert wanted in printed, (
            f"{block.place} shows what is not printed: {wanted}\n{printable(printed)}"
        )
