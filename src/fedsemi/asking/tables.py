"""From records to a table, a plot, and what they say."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.asking.curve import NOBODY
from fedsemi.asking.plot import Series, plot
from fedsemi.asking.records import Arm, Record
from fedsemi.asking.rules import RANDOM, RULES
from fedsemi.evidence.render import markdown_table
from fedsemi.evidence.stats import Paired, paired
from fedsemi.storage import write_whole

HEAD = (
    *("labels asked for", "rule", "balanced accuracy"),
    *("minus random", "95 % interval"),
)
METRIC = "balanced_accuracy"
"""Rules differ in which classes they ask for, so every class counts alike."""


@dataclass(frozen=True)
class Line:
    """One rule at one budget, over all seeds that have it."""

    rule: str
    budget: int
    score: Paired
    """In percent; against zero, so its interval is that of the mean."""
    ahead: Paired | None
    """In points, of random at the same budget and seeds; None for what has no rival."""
    seeds: int
    """How many there are altogether; a line that lacks some says so."""

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The line as text."""
        ahead = "" if self.ahead is None else _signed(self.ahead.mean)
        between = "" if self.ahead is None else _range(self.ahead)
        return str(self.budget), self.rule, self._score, ahead, between

    @property
    def _score(self) -> str:
        number = f" (n = {self.score.n})" if self.score.n < self.seeds else ""
        return f"{_reach(self.score)}{number}"


def lines_of(records: Sequence[Record]) -> list[Line]:
    """Take means over seeds, and differences to random on the same seeds."""
    arms = sorted({arm for record in records for arm in record.points}, key=_place)
    return [_line(records, arm) for arm in arms]


def write_tables(folder: Path, records: Sequence[Record]) -> None:
    """Write table, words and plot into the folder of the records."""
    title = "# What labels bring, by the rule that asks for them"
    parts = [title, scale(records), as_markdown(records), words(records)]
    write_whole(folder / "curve.md", ("\n\n".join(parts) + "\n").encode())
    write_whole(folder / "curve.csv", as_csv(records).encode())
    write_whole(folder / "curve.svg", as_svg(records).encode())


def as_markdown(records: Sequence[Record]) -> str:
    """Write the table as Markdown."""
    return markdown_table(HEAD, [line.cells for line in lines_of(records)])


def as_csv(records: Sequence[Record]) -> str:
    """Write one run a line, for other tools."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["seed", "rule", "budget", "labels", *_scores(records), "asked"])
    for record in records:
        for arm in sorted(record.points, key=_place):
            point = record.points[arm]
            asked = " ".join(map(str, point.asked))
            about = [record.seed, point.rule, point.budget, point.labels]
            writer.writerow([*about, *point.scores.values(), asked])
    return text.getvalue()


def as_svg(records: Sequence[Record]) -> str:
    """Draw balanced accuracy over the budget, a line for each rule, with intervals."""
    lines = lines_of(records)
    drawn = [rule for rule in RULES if any(line.rule == rule for line in lines)]
    series = [
        Series(
            rule,
            tuple(
                (line.budget, line.score.mean, line.score.low, line.score.high)
                for line in lines
                if line.rule in (NOBODY, rule)  # where all begin
            ),
        )
        for rule in drawn
    ]
    data = records[0].config["data"]["name"]
    return plot(f"Balanced accuracy on {data} by labels asked for", series)


def words(records: Sequence[Record]) -> str:
    """List what the table means."""
    return "\n".join(f"- {sentence}" for sentence in sentences(records))


def sentences(records: Sequence[Record]) -> list[str]:
    """Say plainly of each rule whether it beat random, and what labels brought."""
    lines = lines_of(records)
    rules = [rule for rule in RULES if rule != RANDOM]
    rivals = {
        rule: [line for line in lines if line.rule == rule and line.ahead is not None]
        for rule in rules
    }
    found = [_verdict(rule, some) for rule, some in rivals.items() if some]
    control = [line for line in lines if line.rule == RANDOM]
    if control:
        found.append(_worth(records, control[-1]))
    return found


def scale(records: Sequence[Record]) -> str:
    """Say how large the experiment was."""
    config, seeds = records[0].config, len(records)
    data, partition = config["data"], config["partition"]
    rounds = [
        f"{each['rounds']} rounds of {each['method']}" for each in config["stages"]
    ]
    labels = [record.points[NOBODY, 0].labels for record in records]
    some = (
        f"{min(labels)}" if len({*labels}) == 1 else f"{min(labels)} to {max(labels)}"
    )
    return (
        f"{data['name']} at {data.get('image_size', 'its own')} px, "
        f"{data.get('train_limit', 'all')} training images at "
        f"{partition['num_clients']} sites, Dirichlet({partition['dirichlet_alpha']}), "
        f"{some} labels at {partition['labeled_clients']} of them; "
        f"{_network(config['model'])}; {' and '.join(rounds)}, then the same once more "
        f"with the labels; {seeds} seed{'s' if seeds > 1 else ''}; ± and intervals are "
        "95 %, Student's t."
    )


def _network(model: Mapping[str, Any]) -> str:
    if encoder := model.get("encoder"):
        trained = encoder.get("trained_blocks", 0)
        what = "frozen" if trained == 0 else f"trained blocks: {trained}"
        return f"{model['name']} with pretrained weights, {what}"
    return f"{model['name']} of width {model.get('width', 'as usual')}"


def _verdict(rule: str, lines: Sequence[Line]) -> str:
    verdicts = {line.budget: line.ahead.verdict for line in lines if line.ahead}
    at = {
        kind: [str(budget) for budget, each in verdicts.items() if each == kind]
        for kind in ("ahead", "behind", "undecided", "one seed")
    }
    if at["one seed"]:
        return f"{rule}: one seed decides nothing."
    parts = []
    if at["ahead"]:
        parts.append(f"beats random at {' and '.join(at['ahead'])} labels")
    if at["behind"]:
        parts.append(f"is worse than random at {' and '.join(at['behind'])} labels")
    if not parts:
        return f"{rule}: does not beat random at any budget; no difference is decided."
    rest = at["undecided"]
    parts += [f"at {' and '.join(rest)} nothing is decided"] if rest else []
    return f"{rule}: {', '.join(parts)}."


def _worth(records: Sequence[Record], line: Line) -> str:
    shared = [r for r in records if (line.rule, line.budget) in r.points]
    gain = paired(
        [_value(r, (line.rule, line.budget)) for r in shared],
        [_value(r, (NOBODY, 0)) for r in shared],
    )
    between = f" (95 % interval {_range(gain)})" if gain.low is not None else ""
    mean = _signed(gain.mean)
    return f"{line.budget} labels at random against none: {mean} points{between}."


def _line(records: Sequence[Record], arm: Arm) -> Line:
    rule, budget = arm
    values = [_value(r, arm) for r in records if arm in r.points]
    control, ahead = (RANDOM, budget), None
    both = [r for r in records if arm in r.points and control in r.points]
    if rule not in (RANDOM, NOBODY) and both:
        ahead = paired(
            [_value(r, arm) for r in both], [_value(r, control) for r in both]
        )
    score = paired(values, [0.0] * len(values))
    return Line(rule, budget, score, ahead, len(records))


def _value(record: Record, arm: Arm) -> float:
    found = record.points[arm].scores[METRIC]
    assert found is not None  # only an AUC can be unknown
    return 100 * found


def _place(arm: Arm) -> tuple[int, int]:
    rule, budget = arm
    return budget, list(RULES).index(rule) if rule in RULES else -1


def _scores(records: Sequence[Record]) -> list[str]:
    return list(records[0].points[NOBODY, 0].scores)


def _reach(score: Paired) -> str:
    if score.high is None:
        return f"{score.mean:.1f}"
    return f"{score.mean:.1f} ± {score.high - score.mean:.1f}"


def _range(found: Paired) -> str:
    if found.low is None or found.high is None:
        return "one seed"
    return f"{_signed(found.low)} to {_signed(found.high)}"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")
