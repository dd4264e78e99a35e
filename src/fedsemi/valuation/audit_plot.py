"""The picture of an audit of weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fedsemi.errors import CannotCreate
from fedsemi.valuation.weight_audit import SETTLING, Audit, relative

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEGEND = 10
"""Clients that a legend has room for."""
_NAMED = 12
"""Classes whose names fit below their bars."""


def save_plot(found: Audit, class_names: Sequence[str], path: Path) -> None:
    """Draw shares over counts, both accuracies, and where the difference lies."""
    # Imported here, so that commands which draw nothing start sooner.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.6), layout="constrained")
    FigureCanvasAgg(figure)
    (shares, rounds), (layers, classes) = figure.subplots(2, 2)
    _shares(found, shares)
    _rounds(found, rounds)
    _layers(found, layers)
    _classes(found, class_names, classes)
    figure.suptitle(f"{found.method}: {found.moved:.1%} of the mean is moved")
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:
        raise CannotCreate(f"cannot write the plot {path}: {error}") from error


def _shares(found: Audit, axes: Axes) -> None:
    compared = relative(found.rows)
    clients = sorted({each.client for each in compared})
    for client in clients:
        own = [each for each in compared if each.client == client]
        counts, shares = [each.counts for each in own], [each.share for each in own]
        axes.plot(counts, shares, "o", label=str(client))
    axes.axhline(1, color="0.6", linewidth=1, zorder=0)
    axes.set_xlabel("labels and pseudo-labels, in means of round and kind")
    axes.set_ylabel("share, in equal shares")
    axes.set_ylim(bottom=0)
    if 0 < len(clients) <= _LEGEND:
        axes.legend(title="client", fontsize=7, title_fontsize=7, ncols=2)


def _rounds(found: Audit, axes: Axes) -> None:
    numbers = range(SETTLING + 1, SETTLING + len(found.accuracy) + 1)
    shown = (("its shares", found.accuracy), ("equal shares", found.equal_accuracy))
    for name, values in shown:
        axes.plot(numbers, [100 * each for each in values], "o-", label=name)
    axes.set_xticks(list(numbers))
    axes.set_xlabel("round, from the trained model on")
    axes.set_ylabel("accuracy of the mean, %")
    axes.legend()


def _layers(found: Audit, axes: Axes) -> None:
    """Draw how far shares move the step in each group of layers."""
    place = found.place
    if place is None:
        _nothing(axes)
        return
    groups = list(place.moved)
    bars = axes.bar(groups, [100 * place.moved[g] for g in groups], color="tab:blue")
    axes.bar_label(bars, [f"{place.part[g]:.0%}" for g in groups], fontsize=8)
    axes.margins(y=0.15)
    axes.set_ylabel("moved, % of the equal step")
    axes.set_xlabel("layers; above: part of all that is moved")


def _classes(found: Audit, class_names: Sequence[str], axes: Axes) -> None:
    """Draw which rows of the head the shares move."""
    place = found.place
    if place is None or not place.classes:
        _nothing(axes)
        return
    numbers = range(len(place.classes))
    axes.bar(numbers, [100 * part for part in place.classes], color="tab:orange")
    axes.axhline(100 / len(numbers), color="0.6", linewidth=1, zorder=0)
    axes.set_ylabel("% of what is moved in the head")
    axes.set_xlabel("row of the head, by class; line: all alike")
    if len(numbers) <= _NAMED:
        axes.set_xticks(list(numbers), [name[:8] for name in class_names])


def _nothing(axes: Axes) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, "shares are equal: nothing is moved", ha="center")
