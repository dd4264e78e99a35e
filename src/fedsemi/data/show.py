"""Show a partition: a table for the terminal, a heat map for a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table

from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.errors import CannotCreate
from fedsemi.text.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LogNorm

Counts = npt.NDArray[np.int64]

MAX_COLUMNS = 12
"""With more classes, the table shows how many a client owns, not each one's count."""


def partition_table(
    partition: Partition, labels: npt.ArrayLike, class_names: Sequence[str]
) -> Table:
    """Return a table of the images of each client (rows) and class (columns).

    Clients with labels are marked `*`; the last row has the totals and the labeled
    share of all images.

    Args:
        partition: Whose rows are counted.
        labels: The class of each training image.
        class_names: In the order of the labels.
    """
    counts = partition.table(labels, len(class_names))  # [K, C]
    wide = len(class_names) > MAX_COLUMNS
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, padding=0, pad_edge=False)
    table.add_column("client", justify="right", footer="all")
    heads = ("classes", "smallest", "largest") if wide else tuple(class_names)
    for head, foot in zip(heads, _cells(counts.sum(0), wide), strict=True):
        table.add_column(head, justify="right", footer=foot)
    table.add_column(
        "total", justify="right", footer=_number(sum(map(len, partition.clients)))
    )
    share = f"{partition.labeled_share:.2%}"
    table.add_column("labeled", justify="right", footer=share)
    for k, (client, row) in enumerate(zip(partition.clients, counts, strict=True)):
        name = f"{k}{_mark(client)}"
        amount = _number(len(client.labeled)) if len(client.labeled) else "-"
        total = _number(len(client))
        style = "bold" if len(client.labeled) else None
        table.add_row(name, *_cells(row, wide), total, amount, style=style)
    return table


def save_heatmap(
    partition: Partition,
    labels: npt.ArrayLike,
    class_names: Sequence[str],
    path: Path | str,
) -> None:
    """Draw the class distribution of the clients; the suffix of `path` is the format.

    Color is on a logarithmic scale, so rare classes show beside a dominant one; gray
    is none at all. Clients with labels are marked `*`.

    Args:
        partition: Whose rows are counted.
        labels: The class of each training image.
        class_names: In the order of the labels.
        path: Of the picture.
    """
    # Imported here, so that commands which draw nothing start sooner.
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    counts = partition.table(labels, len(class_names))  # [K, C]
    num_clients, num_classes = counts.shape
    numbers = num_classes <= 2 * MAX_COLUMNS
    width = 2.2 + num_classes * (0.62 if numbers else 0.13)
    height = 1.9 + 0.3 * num_clients
    figure = Figure(figsize=(max(width, 5.5), height), layout="constrained")
    FigureCanvasAgg(figure)  # needs no display, and leaves pyplot's state alone
    axes = figure.add_subplot()
    shades = LogNorm(1, max(int(counts.max()), 2))
    shading = colormaps["YlGnBu"].with_extremes(bad="0.88")
    shown = np.ma.masked_equal(counts, 0)
    image = axes.imshow(shown, aspect="auto", cmap=shading, norm=shades)
    figure.colorbar(image, ax=axes, label="images", pad=0.01, format="%d")
    _label_axes(axes, partition, class_names, numbers)
    if numbers:
        _write_numbers(axes, counts, shades)
    axes.set_title(
        f"{counts.sum():,} images, {num_clients} clients (* with labels: "
        f"{partition.labeled_share:.2%} of the images)",
        fontsize=10,
    )
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise CannotCreate(f"cannot write the heat map {path}: {error}") from error


def _label_axes(
    axes: Axes, partition: Partition, class_names: Sequence[str], numbers: bool
) -> None:
    rows = [f"{k}{_mark(client)}" for k, client in enumerate(partition.clients)]
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylabel("client")
    # To matplotlib a dollar begins a formula.
    names = [printable(name).replace("$", r"\$") for name in class_names]
    words = [name.replace(" ", "\n") if numbers else name for name in names]
    longest = max(len(word) for name in words for word in name.split("\n"))
    fits = numbers and longest <= (10 if len(words) <= 6 else 6)
    axes.set_xticks(
        range(len(class_names)),
        words if fits else names,
        rotation=0 if fits else 90,
        fontsize=9 if numbers else 6,
    )
    # Thin white lines part the cells; they are minor ticks, between the names.
    axes.set_xticks(np.arange(0.5, len(class_names) - 1), minor=True)
    axes.set_yticks(np.arange(0.5, len(rows) - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=0.5)
    axes.tick_params(which="minor", length=0)


def _write_numbers(axes: Axes, counts: Counts, shades: LogNorm) -> None:
    dark = np.asarray(shades(np.maximum(counts, 1))) > 0.6
    for (client, label), count in np.ndenumerate(counts):
        if count:
            axes.text(
                label,
                client,
                str(count),
                ha="center",
                va="center",
                color="white" if dark[client, label] else "black",
                fontsize=8,
            )


def _mark(client: ClientIndex) -> str:
    return "*" if len(client.labeled) else ""


def _cells(row: Counts, wide: bool) -> list[str]:
    if not wide:
        return [_number(int(count)) for count in row]
    owned = row[row > 0]
    smallest, largest = (owned.min(), owned.max()) if len(owned) else (0, 0)
    return [str(len(owned)), _number(int(smallest)), _number(int(largest))]


def _number(count: int) -> str:
    return f"{count:,}" if count else "-"
