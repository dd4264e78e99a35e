"""What all benchmarks share: the federation, the stopwatch and the table."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fedsemi.data.augment import Views, pre_size
from fedsemi.data.client import Client
from fedsemi.engines.in_process import InProcess
from fedsemi.engines.workers import Workers
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup
from fedsemi.server.rounds import run

ROOT = Path(__file__).parent.parent
MET, MISSED = "met", "**missed**"
PATIENCE = 240
"""Seconds after which a process of its own is given up."""


@dataclass(frozen=True)
class Section:
    """One table of the results and what it means."""

    title: str
    text: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {row} does not fit {self.columns}")

    @property
    def aimed(self) -> list[Sequence[str]]:
        """The rows that have an aim: they end in value, aim, and whether it is met."""
        return [row for row in self.rows if row[-1] in (MET, MISSED)]

    def table(self) -> str:
        """Lay out the table alone."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def markdown(self) -> str:
        """Lay the section out."""
        return f"## {self.title}\n\n{self.text}\n\n{self.table()}\n"


def against(value: float, aim: float, form: str, at_least: bool = False) -> list[str]:
    """Return three cells: the value, the aim, and whether it is reached.

    >>> against(1.07, 1.10, "{:.2f}")
    ['1.07', 'at most 1.10', 'met']
    """
    met = value >= aim if at_least else value <= aim
    bound = "at least" if at_least else "at most"
    shown = form.format(value).replace("-", "−")
    return [shown, f"{bound} {form.format(aim)}", MET if met else MISSED]


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds that something takes, and what it returns."""
    started = time.process_time()
    result = act()
    return time.process_time() - started, result


def make_setup(
    model: str = "resnet8", width: int | None = None, size: int = 32
) -> Setup:
    """Describe the network and the views, with the paper's room for crops."""
    views = Views(size, pre_size(size), (0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    return Setup(ModelSpec(model, 10, 3, width, size), views)


def make_clients(
    count: int, samples: int, labeled: int, size: int = 32
) -> list[Client]:
    """Deal noise out to clients, the first `labeled` of them with labels."""
    generator = torch.Generator().manual_seed(0)
    clients = []
    for id in range(count):
        shape = samples, 3, size, size
        images = torch.randint(256, shape, dtype=torch.uint8, generator=generator)
        labels = torch.randint(10, (samples,), generator=generator)
        known = samples if id < labeled else 0
        clients.append(Client(id, images[:known], labels[:known], images[known:]))
    return clients


def method_of(name: str, setup: Setup, **settings: Any) -> Method[Any]:
    """Make a method, as blueprints do."""
    maker: Any = METHODS[name]
    made: Method[Any] = maker(setup, **settings)
    return made


class Federation:
    """A method on an engine; a call runs one round."""

    def __init__(
        self,
        name: str,
        setup: Setup,
        clients: Sequence[Client],
        workers: int,
        prepared: bool = True,
        **settings: Any,
    ):
        self.method = method_of(name, setup, **settings)
        self.engine: InProcess | Workers = (
            Workers(self.method, clients, workers)
            if workers
            else InProcess(self.method, clients)
        )
        weights = setup.model.build(0).state_dict()
        self.state = self.method.init(weights, self.engine.clients())
        self._rounds = run(self.method, self.engine, self.state, sys.maxsize)
        if prepared:
            self()  # the first round prepares clients

    @property
    def pids(self) -> list[int]:
        """The worker processes."""
        assert isinstance(self.engine, Workers)
        return [process.pid for process in self.engine._processes if process.pid]

    def __call__(self) -> None:
        """Run a round."""
        self.state = next(self._rounds).state


def medians(
    contenders: Sequence[Callable[[], Any]],
    times: int,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Time contenders in turn, several times; return the median of each.

    Work of one process is timed by the processor time it takes, so that other jobs on
    the machine matter less; pass `time.perf_counter` for work of several processes.
    """
    taken: list[list[float]] = [[] for _ in contenders]
    for _ in range(times):
        for contender, list_ in zip(contenders, taken, strict=True):
            start = clock()
            contender()
            list_.append(clock() - start)
    return [statistics.median(each) for each in taken]


def worked(pids: Sequence[int]) -> float:
    """Return the processor seconds of this process and of others, so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def run_apart(
    module: str,
    *arguments: str,
    python: Path = Path(sys.executable),
    patience: float = PATIENCE,
) -> tuple[dict[str, Any], float]:
    """Run a module in a process of its own; return its JSON and peak memory in MB."""
    command = [str(python), "-m", module, *arguments]
    paths = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    environment = os.environ | {
        "PYTHONPATH": paths,
        "OMP_NUM_THREADS": "1",
        "BENCHMARK_STARTED": str(time.time()),
    }
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        peak = Peak(process.pid)
        try:
            output, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            _end(process.pid)
            raise TimeoutError(f"{module} took more than {patience} s") from None
        finally:
            memory = peak.stop()
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} failed")
    return json.loads(output.strip().splitlines()[-1]), memory


class Peak:
    """Watches the memory of a process and its descendants.

    Counts memory that the system cannot take back: anonymous and shared pages, each
    page once. Mapped files can be dropped at any time and do not count.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Return the peak in MB."""
        self._done.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        pause = 0.1
        while not self._done.wait(pause):
            began = time.perf_counter()
            self._peak = max(self._peak, sum(map(_memory, family(self._pid))))
            # Looking costs time of the watched cores: at most a fiftieth of it.
            pause = max(0.1, 50 * (time.perf_counter() - began))


def _end(pid: int) -> None:
    """Kill a process with all that it started, Ray's servers among them."""
    for member in family(pid):
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def family(pid: int) -> list[int]:
    """List a process with all that it started, and they."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [(task / "children").read_text().split() for task in tasks]
    except OSError:
        return []
    return [pid, *(p for ids in children for id in ids for p in family(int(id)))]


def _memory(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    wanted = ("Pss_Anon:", "Pss_Shmem:")
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(wanted))
