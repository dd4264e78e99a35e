"""What the guard does to honest sites: how often it shortens steps and caps shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.common import Section
from fedsemi.config.experiment import load_config
from fedsemi.engines.in_process import one_thread
from fedsemi.runs.records import RoundRecord
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

_SMALL = ("data.image_size=16", "data.train_limit=5000", "data.test_limit=500")
_ALL = ("partition.labeled_clients=all", 'stages=[{method="supervised",rounds=30}]')


@dataclass(frozen=True)
class Case:
    """Honest runs of one kind; the rounds of their last stage are counted."""

    name: str
    config: str
    settings: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (1,)

    def rounds(self) -> Iterator[RoundRecord]:
        """Run them with the guard on."""
        for seed in self.seeds:
            settings = [f"seed={seed}", "guard.enabled=true", *self.settings]
            experiment = load_config(Path(self.config), settings)
            last = len(experiment.stages) - 1
            for step in run_simulation(build(experiment)):
                if step.record.stage == last:
                    yield step.record


CASES = (
    Case("`digits`, SemiAnAgg", "digits", seeds=(1, 2, 3)),
    Case("SVHN 16 px, SemiAnAgg", "cpu/svhn", (*_SMALL, "stages.0.rounds=60")),
    Case("ISIC-18 16 px, SemiAnAgg", "cpu/isic18", _SMALL),
    Case("`digits`, all labeled", "digits", _ALL),
    Case("SVHN 16 px, all labeled", "cpu/svhn", (*_SMALL, *_ALL)),
    Case(
        "SVHN 16 px, all labeled, twice the learning rate",
        "cpu/svhn",
        (*_SMALL, *_ALL, "local.lr_labeled=0.2"),
    ),
)


def honest(times: int) -> Section:
    """Count the guard's notices in honest runs."""
    with one_thread():
        rows = [_row(case.name, list(case.rounds())) for case in CASES]
    return Section(
        "What the guard does to honest sites",
        "Ten sites, Dirichlet 0.8, seed 1 (`digits` with SemiAnAgg: seeds 1 to 3), "
        "rounds of the last stage.",
        [
            *("run", "rounds", "replies", "steps shortened (FS2107)"),
            *("to, mean (least)", "rounds with a capped share (FS2109)"),
            "called idle (FS2110)",
        ],
        rows,
    )


def _row(name: str, rounds: list[RoundRecord]) -> list[str]:
    used = sum(each.used for each in rounds)
    short = [
        cut.part
        for each in rounds
        for cut in each.cuts
        if cut.code == "FS2107" and cut.part is not None
    ]
    capped = sum(any(cut.code == "FS2109" for cut in each.cuts) for each in rounds)
    idle = sum(note.code == "FS2110" for each in rounds for note in each.notices)
    parts = f"{fmean(short):.0%} ({min(short):.0%})" if short else ""
    return [
        *(name, str(len(rounds)), f"{used:,}"),
        *(f"{len(short)} ({len(short) / used:.1%})", parts, str(capped), str(idle)),
    ]
