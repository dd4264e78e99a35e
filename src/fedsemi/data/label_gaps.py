"""Which classes nobody has labeled, or hardly: they cannot be learned.

Only labels that some client learns from are counted, so that nothing here knows more
than the sites of a real federation do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedsemi.data.partition import Partition
from fedsemi.text.printable import printable

HANDFUL = 5
"""With fewer labeled images than this, a class is hardly learned."""
_MOST, _LONGEST = 12, 40
"""Names in a line, and characters of a name."""


@dataclass(frozen=True)
class LabelGaps:
    """The classes that labels leave out, of all that there are."""

    num_classes: int
    missing: tuple[str, ...]
    """Of which nobody has a labeled image."""
    few: tuple[tuple[str, int], ...]
    """Of which there is less than a handful, with their number."""

    @property
    def warnings(self) -> list[str]:
        """Say it in a line each, with what to do."""
        lines = []
        if self.missing:
            lines.append(
                f"FS3405 nobody has a labeled image of {len(self.missing)} of "
                f"{self.num_classes} classes ({listed(self.missing)}), so the model "
                f"cannot learn them; {_REMEDY}"
            )
        if self.few:
            counts = [f"{printable(name, _LONGEST)}: {n}" for name, n in self.few]
            lines.append(
                f"FS3406 {len(self.few)} of {self.num_classes} classes have fewer than "
                f"{HANDFUL} labeled images ({listed(counts)}); {_REMEDY}"
            )
        return lines


_REMEDY = (
    "label more of them at some site; in a simulation, raise "
    "partition.labeled_clients or partition.dirichlet_alpha"
)


def label_gaps(
    labels: Iterable[npt.ArrayLike], class_names: Sequence[str]
) -> LabelGaps:
    """Count the labels that clients learn from, class by class.

    Args:
        labels: Of each client, its labeled part alone.
        class_names: In the order of the labels.

    >>> label_gaps([[0, 0, 0, 0, 0], [1]], ("cat", "dog", "owl"))
    LabelGaps(num_classes=3, missing=('owl',), few=(('dog', 1),))
    """
    counts = np.zeros(len(class_names), dtype=np.int64)
    for part in labels:
        counts += np.bincount(np.asarray(part, np.int64), minlength=len(class_names))
    named = list(zip(class_names, counts.tolist(), strict=True))
    return LabelGaps(
        len(named),
        tuple(name for name, count in named if not count),
        tuple((name, count) for name, count in named if 0 < count < HANDFUL),
    )


def partition_gaps(
    partition: Partition, labels: npt.ArrayLike, class_names: Sequence[str]
) -> LabelGaps:
    """Look at a partition; of the labels, only those of labeled rows are read."""
    truth = np.asarray(labels)
    return label_gaps([truth[each.labeled] for each in partition.clients], class_names)


def listed(names: Sequence[str], most: int = _MOST) -> str:
    """List names, the first of many.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(printable(name, _LONGEST) for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown
