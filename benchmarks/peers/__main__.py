"""Measure all contenders in turn and write the table: `make bench-peers`.

Each is a process of its own, in an environment of its own that is made the first time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import venv
from argparse import ArgumentParser
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import ROOT, Section, run_apart
from benchmarks.peers.contenders import CONTENDERS, Contender
from benchmarks.peers.work import Job, write_images

CASES = (
    (Job(10, 500, 2, 3), 3),
    (Job(10, 500, 1, 3), 2),
    (Job(100, 50, 2, 3), 3),
    (Job(1000, 50, 2, 2), 1),
)
"""Clients, images, processes and rounds, and how often contenders take turns."""
PATIENCE = 900
"""Seconds; 1000 clients take minutes a round in some frameworks."""
RESULTS = ROOT / "benchmarks" / "peers.md"
RATIOS = (
    ("fedsemi over the bare loop", "fedsemi", "bare loop, our settings"),
    ("pfl-research over fedsemi", "pfl-research", "fedsemi"),
)
"""What there are aims for."""


@dataclass
class Measured:
    """What was found about one contender in one case."""

    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    word: str = ""

    @property
    def cell(self) -> str:
        """Write the median, or why there is none."""
        if not self.seconds:
            return self.word or "–"
        return f"{statistics.median(self.seconds):.2f} s"


def environment(contender: Contender, folder: Path) -> Path:
    """Return the interpreter of a contender; install it if it is not there."""
    if not contender.packages:
        return Path(sys.executable)
    home = folder / contender.module
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        venv.create(home, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", *contender.packages]
        subprocess.run(pip, check=True)
        (home / "installed").write_text(" ".join(contender.packages))
    return python


def measure(job: Job, turns: int, folder: Path, only: set[str]) -> dict[str, Measured]:
    """Let contenders take turns in one case."""
    write_images(job)
    found: dict[str, Measured] = {}
    for _ in range(turns):
        for each in CONTENDERS:
            if each.left_out or (only and each.name not in only):
                continue
            if job.processes not in each.processes or job.clients > each.most_clients:
                continue
            mine = found.setdefault(each.name, Measured())
            if not mine.word:
                _one_turn(each, job, folder, mine)
    return found


def _one_turn(each: Contender, job: Job, folder: Path, mine: Measured) -> None:
    try:
        python = environment(each, folder)
        module = f"benchmarks.peers.{each.module}"
        words = (*job.words, *each.words)
        result, memory = run_apart(module, *words, python=python, patience=PATIENCE)
    except subprocess.CalledProcessError:
        mine.word = "could not be installed"
    except TimeoutError:
        mine.word = "took too long"
    except (RuntimeError, ValueError, IndexError):
        mine.word = "failed"
    else:
        mine.seconds += result["seconds"]
        mine.memory.append(memory)
    told = mine.cell if mine.word else f"{mine.seconds[-1]:.2f} s"
    print(f"{each.name}, {job.clients} x {job.images}: {told}", flush=True)


def table(found: dict[Job, dict[str, Measured]]) -> str:
    """Lay everything out, with what differs between contenders."""
    jobs = list(found)
    title = "{} clients of {}, processes: {}"
    columns = ["", *(title.format(j.clients, j.images, j.processes) for j in jobs)]
    rows = []
    for each in CONTENDERS:
        if each.left_out:
            rows.append([each.name, *("left out" for _ in jobs)])
            continue
        none = Measured()
        rows.append([each.name, *(found[j].get(each.name, none).cell for j in jobs)])
    for title, above, below in RATIOS:
        rows.append([title, *(_ratio(found[j], above, below) for j in jobs)])
    first = found[jobs[0]]
    peaks = [
        f"{name} {max(each.memory):.0f} MB"
        for name, each in first.items()
        if each.memory
    ]
    words = [f"- **{e.name}**: {e.left_out or e.differs}" for e in CONTENDERS]
    packages = sorted({p for each in CONTENDERS for p in each.packages})
    text = (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores. The same round of "
        "FedAvg on one clean view: ResNet-8 of width 16 at 32x32, batches of 32, SGD "
        "with momentum, one torch thread in each process; seconds by the clock, "
        "medians of contenders taking turns, the first round left out. "
        f"{', '.join(packages)}."
    )
    section = Section("The same round elsewhere", text, columns, rows).markdown()
    return f"{section}\nPeak memory, {columns[1]}: {', '.join(peaks)}.\n\n" + "\n".join(
        ["What differs:", "", *words, ""]
    )


def _ratio(found: dict[str, Measured], above: str, below: str) -> str:
    if not all(name in found and found[name].seconds for name in (above, below)):
        return "–"
    first, second = (statistics.median(found[n].seconds) for n in (above, below))
    return f"{first / second:.2f}"


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--most-clients", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3, help="at most so many")
    chosen = parser.parse_args()
    folder = Path(os.environ.setdefault("FEDSEMI_PEERS", str(ROOT / ".peers")))
    only = {name for name in chosen.only.split(",") if name}
    found: dict[Job, dict[str, Measured]] = {}
    for job, turns in CASES:
        if job.clients <= chosen.most_clients:
            found[job] = measure(job, min(turns, chosen.turns), folder, only)
    text = table(found)
    print(text)
    if not only:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
