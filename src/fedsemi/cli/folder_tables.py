"""Tables of what the folders of a federation hold."""

from __future__ import annotations

from collections import Counter

from rich.table import Table

from fedsemi.data.check import Report
from fedsemi.data.dataset import UNKNOWN
from fedsemi.data.folder import SiteData


def site_table(report: Report) -> Table:
    """Tabulate what each site holds."""
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("site", "images", "labeled", "left out", "sizes", "modes"):
        table.add_column(name, overflow="fold", no_wrap=name == "sizes")
    for site in report.everyone:
        labeled = int((site.labels != UNKNOWN).sum())
        table.add_row(
            _named(site, report),
            f"{len(site):,}",
            f"{labeled:,}" if labeled else "–",
            str(len(site.left_out) or "–"),
            _sizes(site),
            ", ".join(mode for mode, _ in Counter(site.modes).most_common()),
        )
    return table


def class_table(report: Report, classes: list[str]) -> Table:
    """Tabulate how many labeled images of each class a site has."""
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("site", "labeled images of each class"):
        table.add_column(name, overflow="fold")
    for site in report.everyone:
        counts = Counter(site.labels[site.labels != UNKNOWN].tolist())
        if counts:
            found = {classes[label]: n for label, n in sorted(counts.items())}
            table.add_row(_named(site, report), counted(found))
    return table


def counted(counts: dict[str, int]) -> str:
    """List classes and how many images each has."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _named(site: SiteData, report: Report) -> str:
    return f"{site.name} (test)" if site is report.test else site.name


def _sizes(site: SiteData) -> str:
    if not site.sizes:
        return "–"
    widths, heights = zip(*site.sizes, strict=True)
    low, high = f"{min(widths)}x{min(heights)}", f"{max(widths)}x{max(heights)}"
    return low if low == high else f"{low} to {high}"
