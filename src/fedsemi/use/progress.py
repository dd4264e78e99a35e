"""What a person sees while an experiment runs: a live table, or plain lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.labels_only import METHOD as LABELS_ONLY
from fedsemi.runs.records import ClientRecord, RoundRecord
from fedsemi.runs.time_left import TimeLeft
from fedsemi.text.printable import printable
from fedsemi.use.trend import arrow, sparkline

_HIDDEN = "hidden"
"""In place of what masks keep from the server."""


class Progress:
    """Follows one run; on a terminal it redraws, elsewhere it prints a line a round."""

    def __init__(
        self, blueprint: Blueprint, title: str, console: Console, workers: int = 1
    ) -> None:
        self._rounds = [stage.rounds for stage in blueprint.experiment.stages]
        self._title = title
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._time_left = TimeLeft(self._rounds, blueprint.work(workers))
        self._tests: list[tuple[int, float]] = []
        self._alone: dict[int, float] = {}
        self._warm_up: float | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def remember(self, done: Sequence[RoundRecord], alone: Mapping[int, float]) -> None:
        """Take in the rounds before a run went on, and what labels alone reach.

        Args:
            done: In order.
            alone: Accuracy of labels alone by the number of rounds, all stages.
        """
        self._alone |= alone
        for record in done:
            self._note(record)

    def show(self, record: RoundRecord) -> None:
        """Show the state after a round."""
        self._time_left.tick(record.stage, record.seconds)
        self._note(record)
        self._show(record)

    def _note(self, record: RoundRecord) -> None:
        if record.test is not None:
            self._tests.append((record.stage, record.test.accuracy))
            if record.method == LABELS_ONLY:
                self._warm_up = record.test.accuracy

    @property
    def num_rounds(self) -> int:
        """How many rounds there are, all stages together."""
        return sum(self._rounds)

    def rounds_done(self, record: RoundRecord) -> int:
        """Count the rounds up to this one, all stages together."""
        return sum(self._rounds[: record.stage]) + record.round

    def _show(self, record: RoundRecord) -> None:
        if self._console.is_terminal:
            self._live.update(self._screen(record), refresh=True)
        else:
            self._console.print(self._line(record), soft_wrap=True)

    def seconds_left(self, record: RoundRecord) -> float:
        """Estimate the rest of the run."""
        return self._time_left.seconds(record.stage, record.round)

    def _line(self, record: RoundRecord) -> str:
        return (
            f"{self._title}: stage {record.stage + 1}/{len(self._rounds)} "
            f"{record.method} round {record.round}/{record.rounds} "
            f"accuracy {self._accuracy(record)}{given_away(record)} "
            f"{record.seconds:.1f} s "
            f"left {duration(self.seconds_left(record))}"
            f"{incidents(record)}"
        )

    def _accuracy(self, record: RoundRecord) -> str:
        """Write the accuracy, whither it goes, and what labels alone reach."""
        now = "–" if record.test is None else f"{record.test.accuracy:.2%}"
        # A stage has a level of its own, so that the one before is no trend.
        here = [accuracy for stage, accuracy in self._tests if stage == record.stage]
        parts = [now, arrow(here), self._labels_alone(record)]
        return " ".join(part for part in parts if part)

    def _labels_alone(self, record: RoundRecord) -> str:
        """Name what to compare with: the same round on labels alone, or the warm-up."""
        if record.method == LABELS_ONLY:
            return ""
        before = [n for n in self._alone if n <= self.rounds_done(record)]
        if before:
            return f"(labels alone {self._alone[max(before)]:.2%})"
        return "" if self._warm_up is None else f"(warm-up {self._warm_up:.2%})"

    def _screen(self, record: RoundRecord) -> RenderableType:
        title = Text(printable(self._title), style="bold", overflow="ellipsis")
        stage = f"stage {record.stage + 1}/{len(self._rounds)} {record.method}"
        head = Table.grid(padding=(0, 2))
        head.add_column(no_wrap=True)
        head.add_row(
            title,
            Text(stage, no_wrap=True),
            Text(f"round {record.round}/{record.rounds}", no_wrap=True),
        )
        done = Table.grid(padding=(0, 2))
        done.add_row(
            ProgressBar(self.num_rounds, self.rounds_done(record), width=24),
            f"left {duration(self.seconds_left(record))}",
        )
        curve = sparkline([accuracy for _, accuracy in self._tests])
        tested = f"accuracy {self._accuracy(record)}{given_away(record)} {curve}"
        told = Text(incidents(record).strip(), style="yellow")
        parts: list[RenderableType] = [head, done, Text(tested)]
        parts += [told] if told else []
        return Group(*parts, client_table(record))


def client_table(record: RoundRecord) -> Table:
    """Show what each client did in a round and how much it counted."""
    table = Table(box=None, header_style="dim", padding=(0, 1))
    names = ("client", "labeled", "unlabeled", "pseudo-labeled", "of them right")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("contribution")
    top = max((c.contribution for c in record.clients.values()), default=0) or 1
    for id, client in record.clients.items():
        right = client.pseudo_label_accuracy
        table.add_row(
            str(id),
            f"{client.num_labeled:,}" if client.num_labeled else "–",
            f"{client.num_unlabeled:,}" if client.num_unlabeled else "–",
            _pseudo_labels(client, record.hidden),
            "–" if right is None else f"{right:.0%}",
            _HIDDEN
            if record.hidden
            else f"{client.contribution:6.1%} {bar(client.contribution / top, 10)}",
        )
    return table


def _pseudo_labels(client: ClientRecord, hidden: bool) -> str:
    if not client.num_unlabeled:
        return "–"
    return _HIDDEN if hidden else f"{client.num_pseudo:,}"


def incidents(record: RoundRecord) -> str:
    """Say which replies were not used, and why; nothing if all were."""
    if not record.dropped and not record.skipped:
        return ""
    used = f"{record.used}/{record.asked} used"
    if record.skipped:
        used = "round skipped"
    why = ", ".join(
        f"client {'?' if each.client is None else each.client}: {each.code}"
        for each in record.dropped
    )
    dropped = f", {len(record.dropped)} dropped ({why})" if why else ""
    return f" {used}{dropped}"


def given_away(record: RoundRecord) -> str:
    """Say what was given away of any one site so far; nothing without noise."""
    spent = record.privacy
    if spent is None:
        return ""
    only = "" if spent.covers == "model" else " of statistics alone"
    return f" ε {spent.epsilon:.3g}{only}"


def bar(share: float, width: int) -> str:
    """Draw a share of one as a bar of text."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def duration(seconds: float) -> str:
    """Write seconds as a person would.

    >>> duration(7.4), duration(75), duration(3700)
    ('7 s', '1 min 15 s', '1 h 01 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
