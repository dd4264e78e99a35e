"""What a test found, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from fedsemi.client.subgroups import FEWEST
from fedsemi.data.label_gaps import listed

Facts = Mapping[str, Any]


def lines_of(facts: Facts) -> Iterator[str]:
    """Say in words how the model does as a whole, and on what that rests."""
    test = facts.get("test")
    if test is None:
        yield "there is no labeled test image, or the model gives no numbers"
        return
    scores, names = test["scores"], facts["class_names"]
    yield rests_on(scores, len(names))
    few = [e["name"] for e in test["classes"] if 0 < e["num"] < FEWEST]
    if few:
        yield f"fewer than {FEWEST} images of {listed(few)}: anecdotes"
    yield (
        f"accuracy {between(scores['accuracy'])}, balanced accuracy "
        f"{between(scores['balanced_accuracy'])}, AUC {between(scores['auc'])}; "
        f"95 % intervals, {scores['num_draws']:,} draws"
    )
    told = test["calibration"]
    yield (
        f"calibration error {percent(told['error'])}; chance alone makes up to "
        f"{percent(told['by_chance'])} of so many images"
    )


def rests_on(scores: Facts, num_classes: int) -> str:
    """Say on how many images and classes numbers rest; missing ones are named."""
    patients = scores["num_patients"]
    who = f" of {patients:,} patients or lesions" if patients is not None else ""
    missing = scores["missing"]
    there = f"{num_classes - len(missing)} of {num_classes} classes"
    lacking = (
        f"; no image of {listed(missing)}: nothing is said of it" if missing else ""
    )
    return f"{scores['num']:,} test images{who}, {there}{lacking}"


def tables_of(facts: Facts) -> Iterator[Table]:
    """Lay classes and subgroups out as tables."""
    test = facts.get("test")
    if test is None:
        return
    yield _classes(test["classes"])
    for column, groups in facts.get("subgroups", {}).items():
        yield _subgroups(column, groups, len(facts["class_names"]))


def same_classes(groups: Sequence[Facts]) -> dict[tuple[str, ...], list[Facts]]:
    """Put subgroups together that lack the same classes: only these compare."""
    found: dict[tuple[str, ...], list[Facts]] = {}
    for group in groups:
        if group["scores"] is not None:
            found.setdefault(tuple(group["scores"]["missing"]), []).append(group)
    return dict(sorted(found.items(), key=lambda pair: len(pair[0])))


def _classes(classes: Sequence[Facts]) -> Table:
    table = _table("class", "images", "recall", "AUC")
    wanted: list[Facts] = next(
        (each["thresholds"] for each in classes if each["thresholds"]), []
    )
    for each in wanted:
        at = f"{each['at']['wanted']:.0%}".replace("%", " %")
        table.add_column(f"sensitivity at {at} specificity", justify="right")
        table.add_column("from p", justify="right")
    table.add_column("calibration error", justify="right")
    for each in classes:
        cells = [each["name"], f"{each['num']:,}"]
        if not each["num"]:
            table.add_row(*cells, "no test image", style="dim")
            continue
        cells += [between(each["recall"]), between(each["auc"])]
        for one in each["thresholds"]:
            at = one["at"]
            start = f"{at['threshold']:.3g}" if at["sensitivity"] else "none"
            cells += [between(one["sensitivity"]), start]
        table.add_row(*cells, percent(each["calibration"]["error"]))
    return table


def _subgroups(column: str, groups: Sequence[Facts], num_classes: int) -> Table:
    table = _table(column, "images", "accuracy", "balanced accuracy", "AUC")
    for missing, alike in same_classes(groups).items():
        if missing:
            there = f"{num_classes - len(missing)} of {num_classes} classes"
            table.add_row(Text(f"{there}, without {listed(missing)}:", style="dim"))
        for group in alike:
            scores = group["scores"]
            numbers = (scores["accuracy"], scores["balanced_accuracy"], scores["auc"])
            table.add_row(group["name"], f"{group['num']:,}", *map(between, numbers))
    few = [f"{each['name']} ({each['num']})" for each in groups if not each["scores"]]
    if few:
        table.add_row(Text(f"too few images: {listed(few)}", style="dim"))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 1), title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def between(interval: Facts | None) -> str:
    """Write a share with its interval.

    >>> between({"value": 0.5, "low": 0.25, "high": 0.755})
    '50.0 % (25.0–75.5)'
    """
    if interval is None:
        return "–"
    low, high = 100 * interval["low"], 100 * interval["high"]
    return f"{percent(interval['value'])} ({low:.1f}–{high:.1f})"


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.1f} %"
