"""What a reader must know to read a table, in words and beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from fedsemi.client.evaluate import Score
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Artifact, Setting, measure_of
from fedsemi.evidence.guarding import guard_caption
from fedsemi.evidence.layout import BOUNDS, SHORT, Column, Grid, Row, named, titled
from fedsemi.evidence.notes import NOTES
from fedsemi.evidence.pseudo_labels import right_part
from fedsemi.evidence.records import TESTS, Record
from fedsemi.evidence.results import Evidence

_FROM = {
    "warm-up": "the last tests of the warm-up, the paper's lower bound",
    "lower": "labeled only for all rounds",
}
BEST = (
    "Bold: the best method on the seeds that all methods with two or more seeds have; "
    "≈: not told apart from it by the paired test (the 95 % interval of the difference "
    "includes zero); bounds are no methods, and one seed is not marked. Intervals are "
    "not corrected for the number of comparisons."
)
_UNTESTED = "Methods do not share two seeds yet, so no best is marked."
_ALONE = "There are no two methods to compare, so no best is marked."


def about(evidence: Evidence, artifacts: Sequence[Artifact]) -> str:
    """Say what kind of numbers these are, and whether the guard was on."""
    return f"{_scale(evidence)} {guarding(evidence, artifacts)}".strip()


def guarding(evidence: Evidence, artifacts: Sequence[Artifact]) -> str:
    """Say whether the guard was on in the runs that artifacts show."""
    return guard_caption(_records(evidence, artifacts))


def caption_of(grid: Grid, evidence: Evidence) -> str:
    """Say what the numbers of a table are, over how many seeds, and what is marked."""
    usual = grid.usual_seeds
    counts = {entry.ours.n for entry in grid.entries if entry.ours}
    seeds = f"{usual} seed{'s' if usual > 1 else ''}"
    if len(counts) > 1:
        seeds += " where no other number (n) is given"
    text = (
        f"In percent, mean of the last {TESTS} tests ± standard deviation over seeds; "
        f"{seeds}, profile {evidence.source.name}."
    )
    if any(entry.cell.averaged for entry in grid.entries):
        text += " The running mean decides here."
    if any(entry.cell.paper is not None for entry in grid.entries):
        text += " Small: the paper's number."
    if any(entry.cell.published is not None for entry in grid.entries):
        text += " Its authors' own number follows where the paper quotes one."
    if uneven := grid.uneven:
        text += (
            f" Rows of one column have {uneven[0]} to {uneven[1]} seeds, and seeds "
            "differ in level: read differences between such rows from the paired "
            "tests, not from their means."
        )
    text += f" {_marks(grid)}"
    if grid.missing:
        text += f" Not run: {', '.join(grid.missing)}."
    return text


def _marks(grid: Grid) -> str:
    """Say what is marked, or why nothing is."""
    if any(entry.mark for entry in grid.entries):
        return BEST
    methods = [
        sum(not row.bound and _ran(row, column) for row in panel.rows)
        for panel in grid.panels
        for column in panel.columns
    ]
    return _UNTESTED if max(methods, default=0) > 1 else _ALONE


def _ran(row: Row, column: Column) -> bool:
    entry = row.entries.get(column)
    return entry is not None and entry.ours is not None


def notes_of(artifact: Artifact) -> list[str]:
    """Name the disagreements that touch an artifact or one of its cells."""
    by_cell = [name for cell in artifact.cells for name in cell.notes]
    return list(dict.fromkeys([*artifact.notes, *by_cell]))


def remarks(artifact: Artifact, evidence: Evidence) -> list[str]:
    """Write setting, guard and caveats in sentences, each with what it is about."""
    found = _records(evidence, [artifact])
    shown = _datasets(found)
    setting = [f"{titled(name)}: {described(found, name)}" for name in shown]
    notes = [name for name in notes_of(artifact) if _matters(artifact, name, shown)]
    caveats = [_about_whom(artifact, name) + NOTES[name] for name in notes]
    guard = guard_caption(found)
    no_bounds = [*_no_bounds(artifact, evidence), *_below_labels(artifact, evidence)]
    missing = list(_missing_charts(artifact, evidence))
    return [*missing, *setting, *([guard] if guard else []), *no_bounds, *caveats]


def _missing_charts(artifact: Artifact, evidence: Evidence) -> Iterator[str]:
    """Say what a figure lacks; a table says it in its caption."""
    for chart in artifact.charts:
        lacking = [each for each in chart.settings if not evidence.found(each)]
        drawn = len(lacking) < len(chart.settings)
        if lacking and not (drawn and chart.kind == "curves"):  # which say it below
            names = "; ".join(dict.fromkeys(_shown(each) for each in lacking))
            yield f"Not run of '{chart.title}': {names}."


def _shown(setting: Setting) -> str:
    """Name what a line or bar would show."""
    if setting.without is not None:
        return f"without client {setting.without}"
    return named(setting)


def _no_bounds(artifact: Artifact, evidence: Evidence) -> Iterator[str]:
    """Say where a method lies above the model with all labels, which bounds nothing."""
    means: dict[tuple[str, Score], dict[str, float]] = {}
    for cell in artifact.cells:
        place = cell.setting
        scores = evidence.tabled(artifact, place, cell.metric)
        if scores and not place.partition and place.without is None:
            column = means.setdefault((place.dataset, cell.metric), {})
            column[place.arm] = fmean(scores.values())
    for (dataset, metric), column in means.items():
        best = max(column, key=lambda arm: column[arm])
        if "upper" in column and best != "upper":
            text = (
                f"{titled(dataset)}: by {SHORT[metric]} the model with all labels "
                f"({column['upper']:.1f}) is below {ARMS[best].title} "
                f"({column[best]:.1f}), so it bounds nothing there"
            )
            decides = measure_of(dataset)
            other = f"; {SHORT[decides]} decides on this data set"
            yield f"{text}{'' if metric == decides else other}."


def _below_labels(artifact: Artifact, evidence: Evidence) -> Iterator[str]:
    """Say which methods are worse than labels alone, and how right they label."""
    for place in artifact.settings:
        metric = measure_of(place.dataset)
        if place.arm in BOUNDS or place.without is not None:
            continue
        labels = place.bound("lower")
        test = evidence.paired(place, labels, metric)
        if test is None or test.high is None or test.high >= 0:
            continue
        right = right_part(evidence, place)
        usual = right_part(evidence, replace(place, arm="uniform"))
        where = ", ".join([titled(place.dataset), *place.conditions])
        text = (
            f"{where}: {ARMS[place.arm].title} is {-test.mean:.1f} "
            f"points of {SHORT[metric]} below labels only ({test.n} seeds)"
        )
        if right is not None:
            text += f"; in the last round {right:.0%} of its pseudo-labels are right"
            if usual is not None and place.arm != "uniform":
                text += f", with uniform weights {usual:.0%}"
        yield f"{text}."


def _records(evidence: Evidence, artifacts: Sequence[Artifact]) -> list[Record]:
    settings = dict.fromkeys(each for a in artifacts for each in a.settings)
    return [record for each in settings for record in evidence.found(each).values()]


def _datasets(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r["dataset"] for r in records if "dataset" in r))


def described(records: Sequence[Record], dataset: str) -> str:
    """Describe the runs on a data set by the record of a method, if there is one."""
    some = [record for record in records if record.get("dataset") == dataset]
    # One with all labels is a bound, and says nothing of how few there are.
    some.sort(key=lambda each: float(each["labeled_share"]))
    record = max(some, key=lambda each: bool(_selection(each)))
    config = record["config"]
    local, model, stages = config["local"], config["model"], config["stages"]
    owned = [o["num_labeled"] + o["num_unlabeled"] for o in record["owns"].values()]
    clients = _listed(sorted({len(each["owns"]) for each in some}))
    network = f" of width {model['width']}" if model["width"] else ""
    if model.get("encoder"):
        network = " with pretrained weights, adapter and head trained"
    size = config["data"]["image_size"]
    pixels = f" of {size} pixels" if size else ""
    if config["data"].get("split") == "lesion":
        pixels += " (no lesion is in training and test)"
    learner = _selection(record)
    if len({_selection(each) for each in some if _selection(each)}) > 1:
        learner += " where no other is named"
    elif learner and any(_has_own_way(each) for each in some):
        learner += " where a method has no way of its own to learn from them"
    labeled = _labeled([each for each in some if _selection(each)] or [record])
    rounds = " + ".join(str(stage["rounds"]) for stage in stages) + " rounds"
    if len(stages) > 1:
        rounds += " (warm-up first)"
    rounds += f", tested every {config['evaluation']['every']}"
    return (
        f"{sum(owned):,} training images{pixels} at {clients} clients, {labeled} of "
        f"them labeled; "
        f"{model['name']}{network}, {rounds}, {local['loss']} "
        f"on labels{learner}, {config.get('precision', 'float32')}."
    )


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as one would say them.

    >>> _listed([5, 10, 25])
    '5, 10 or 25'
    """
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}" if first else last


def _labeled(records: Sequence[Record]) -> str:
    """Say which share of the images has labels, from the least to the most."""
    shares = [100 * float(each["labeled_share"]) for each in records]
    low, high = f"{min(shares):.1f}", f"{max(shares):.1f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _selection(record: Record) -> str:
    """Name the local learner of unlabeled images that averaging methods share."""
    chosen = record["config"]["stages"][-1].get("learner") or {}
    if "selection" not in chosen:
        return ""
    loss = chosen.get("loss", "cross-entropy")
    how = "" if loss == "cross-entropy" else f", {loss} on pseudo-labels too"
    return f"{how}, {chosen['selection']} with a cutoff of {chosen['cutoff']}"


def _has_own_way(record: Record) -> bool:
    """Tell whether a method gave pseudo-labels without the shared local learner."""
    return bool(record["clients"].get("num_pseudo")) and not _selection(record)


def _matters(artifact: Artifact, note: str, shown: Sequence[str]) -> bool:
    """Tell whether a note is about the whole, or about a data set that was run."""
    touched = {c.setting.dataset for c in artifact.cells if note in c.notes}
    return note in artifact.notes or not touched.isdisjoint(shown)


def _about_whom(artifact: Artifact, note: str) -> str:
    """Name the data sets or the rows that a note is about; nothing for the whole."""
    if note in artifact.notes:
        return ""
    touched = [cell for cell in artifact.cells if note in cell.notes]
    datasets = dict.fromkeys(cell.setting.dataset for cell in touched)
    whole = [c for c in artifact.cells if c.setting.dataset in datasets]
    if len(whole) == len(touched):
        return ", ".join(titled(name) for name in datasets) + ": "
    return "; ".join(dict.fromkeys(cell.row for cell in touched)) + ": "


def _scale(evidence: Evidence) -> str:
    name, lower = evidence.source.name, _FROM[evidence.source.lower_bound]
    gap = f"The gap closed is measured from {lower}, to the upper bound."
    if name == "paper":
        return f"Profile `paper`: the paper's settings. {gap}"
    return (
        f"Profile `{name}`, not the paper's scale: our numbers are comparable with "
        f"each other and not with the paper's. {gap}"
    )
