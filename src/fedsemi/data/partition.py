"""Share the training images out among clients, and choose who has labels.

The Dirichlet scheme is the one of RSCFed (Liang et al., CVPR 2022), which CBAFed and
SemiAnAgg reuse; its capacity rule gives late classes to few clients, and is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fedsemi.data.published import read_published
from fedsemi.data.rare_classes import RareClasses
from fedsemi.data.schemes import SCHEMES, check_request, labeled_first, split_labeled
from fedsemi.errors import DataError, nearest
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed

Rows = npt.NDArray[np.int64]
LabeledClients = int | Sequence[int] | Literal["all"]

_FORMAT = "fedsemi-partition-1"
_RARE = "rare-classes"
_NO_ROWS: Rows = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ClientIndex:
    """The rows of `dataset.train` that one client owns."""

    labeled: Rows
    unlabeled: Rows

    def __len__(self) -> int:
        return len(self.labeled) + len(self.unlabeled)

    @property
    def rows(self) -> Rows:
        """All rows, the labeled ones first."""
        return np.concatenate([self.labeled, self.unlabeled])


@dataclass(frozen=True, eq=False)
class Partition:
    """Which client owns which training images, and which of them have labels."""

    clients: tuple[ClientIndex, ...]
    file_sha256: str | None = None
    """Of the published file that it was read from; None if it was drawn."""

    def __len__(self) -> int:
        return len(self.clients)

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the rows and their order, the same on every machine."""
        digest = hashlib.sha256(_FORMAT.encode())
        for client in self.clients:
            for rows in (client.labeled, client.unlabeled):
                # Lengths first: rows moved between two parts must change the digest.
                digest.update(np.array([len(rows)], dtype="<i8").tobytes())
                digest.update(rows.astype("<i8").tobytes())
        return digest.hexdigest()

    @property
    def labeled_share(self) -> float:
        """The share of all images that have a label."""
        total = sum(len(client) for client in self.clients)
        return sum(len(client.labeled) for client in self.clients) / max(total, 1)

    def table(self, labels: npt.ArrayLike, num_classes: int) -> Rows:
        """Count the images of each client and class, labeled or not: `[K, C]`.

        Images whose class nobody knows (-1) are in no column.
        """
        truth = np.asarray(labels)
        owned = [truth[client.rows] for client in self.clients]
        return np.stack(
            [np.bincount(part[part >= 0], minlength=num_classes) for part in owned]
        )

    def save(self, path: Path | str) -> None:
        """Write the partition as text, one client a line."""
        clients = ",\n  ".join(
            json.dumps(
                {"labeled": c.labeled.tolist(), "unlabeled": c.unlabeled.tolist()},
                separators=(",", ":"),
            )
            for c in self.clients
        )
        text = (
            f'{{"format": "{_FORMAT}", "sha256": "{self.sha256}", "clients": [\n'
            f"  {clients}\n]}}\n"
        )
        write_whole(Path(path), text.encode())

    @classmethod
    def load(cls, path: Path | str) -> Partition:
        """Read what `save` wrote; a changed file is refused."""
        try:
            content = parsed(Path(path).read_bytes())
            if content["format"] != _FORMAT:
                raise ValueError(f"format {content['format']!r}, not {_FORMAT!r}")
            partition = cls(tuple(_client(entry) for entry in content["clients"]))
            if partition.sha256 != content["sha256"]:
                raise ValueError("its rows do not match its sha256")
        except OSError as error:
            raise DataError(
                f"cannot read the partition {path}: {error.strerror}", "FS3012"
            ) from error
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise DataError(
                f"the partition {path} is damaged or was edited ({error}); make it "
                "again from its seed",
                "FS3012",
            ) from error
        return partition


@dataclass(frozen=True, eq=False)
class Published:
    """A partition from the literature, and the rows of the data set it counts in.

    Attributes:
        partition: Rows of the training part.
        train_rows: The data set's rows that are the training part; None: all.
        test_rows: The data set's rows that are the test part; None: the official one.
    """

    partition: Partition
    train_rows: Rows | None
    test_rows: Rows | None


def make_partition(
    labels: npt.ArrayLike,
    num_classes: int,
    *,
    scheme: str = "dirichlet",
    rare: RareClasses | None = None,
    num_clients: int = 10,
    labeled_clients: LabeledClients = 1,
    dirichlet_alpha: float = 0.8,
    labeled_fraction: float | None = None,
    min_size: int = 10,
    seed: int = 0,
) -> Partition:
    """Share out the rows of `labels`.

    Who owns what depends on the seed and the scheme, never on who has labels: the
    client that suits best as the labeled one is always client 0.

    Args:
        labels: The class of each training image.
        num_classes: Also counts classes that no image has.
        scheme: "dirichlet", "iid" or "rare-classes".
        rare: Who holds which classes under the scheme "rare-classes".
        num_clients: K.
        labeled_clients: How many clients have labels (the best suited become clients
            0, 1, ...), or their ids, or "all".
        dirichlet_alpha: Concentration; a smaller one makes clients more different.
        labeled_fraction: If given, this share of *every* client has labels instead.
        min_size: The fewest images of a client.
        seed: Of all draws.
    """
    truth = np.asarray(labels, dtype=np.int64)
    check_request(truth, num_classes, num_clients, min_size)
    known = (*SCHEMES, _RARE)
    if scheme not in known:
        raise DataError(
            f"unknown scheme '{scheme}'{nearest(scheme, known)}; known: "
            f"{', '.join(known)}",
            "FS3011",
        )
    if labeled_fraction is not None and labeled_clients not in (1, "all"):
        raise DataError(
            "labeled_fraction gives every client some labels, so labeled_clients "
            "cannot be set as well; choose one",
            "FS3011",
        )
    chosen = _labeled_ids(labeled_clients, num_clients)
    if scheme == _RARE:
        rare = rare or RareClasses()
        buckets = rare.buckets(truth, num_classes, num_clients, seed)
    else:
        rng = np.random.default_rng(seed)
        buckets = SCHEMES[scheme](
            truth, num_classes, num_clients, dirichlet_alpha, min_size, rng
        )
        first = labeled_clients if isinstance(labeled_clients, int) else 1
        buckets = labeled_first(buckets, truth, first)
    if labeled_fraction is not None:
        # A stream of its own: the draw of labels must not move images.
        draws = np.random.default_rng([seed, 1])
        parts = [split_labeled(b, truth, labeled_fraction, draws) for b in buckets]
        return Partition(tuple(ClientIndex(*part) for part in parts))
    return Partition(_whole_clients(buckets, chosen))


def given_partition(
    clients: Sequence[Sequence[int]], labeled_clients: LabeledClients, num_rows: int
) -> Partition:
    """Make the partition that somebody wrote down.

    Args:
        clients: The rows of each client.
        labeled_clients: As in `make_partition`, but no client changes its id.
        num_rows: How many rows there are.
    """
    rows = [np.asarray(each, dtype=np.int64) for each in clients]
    every = np.concatenate([_NO_ROWS, *rows])
    outside = len(every) and not 0 <= every.min() <= every.max() < num_rows
    if outside or len(np.unique(every)) < len(every):
        raise DataError(
            f"clients must name rows from 0 to {num_rows - 1}, each at most once",
            "FS3011",
        )
    return Partition(_whole_clients(rows, _labeled_ids(labeled_clients, len(rows))))


def load_published(path: Path | str, labeled_clients: LabeledClients = 1) -> Published:
    """Read an index file of RSCFed, CBAFed or SemiAnAgg, without running its pickles.

    Args:
        path: The `.pth` file.
        labeled_clients: As in `make_partition`, but no client changes its id: the
            published files already have the labeled client as 0.
    """
    index = read_published(Path(path))
    if index.labeled is not None:
        pairs = zip(index.labeled, index.rows, strict=True)
        clients = tuple(ClientIndex(labeled, rest) for labeled, rest in pairs)
        if labeled_clients == "all":
            clients = tuple(ClientIndex(each.rows, _NO_ROWS) for each in clients)
    else:
        chosen = _labeled_ids(labeled_clients, len(index.rows))
        clients = _whole_clients(index.rows, chosen)
    return Published(Partition(clients), index.train_rows, index.test_rows)


def _client(entry: Any) -> ClientIndex:
    parts = (entry["labeled"], entry["unlabeled"])
    return ClientIndex(*(np.array(rows, dtype=np.int64) for rows in parts))


def _whole_clients(
    buckets: Sequence[Rows], labeled: frozenset[int]
) -> tuple[ClientIndex, ...]:
    return tuple(
        ClientIndex(rows, _NO_ROWS) if k in labeled else ClientIndex(_NO_ROWS, rows)
        for k, rows in enumerate(buckets)
    )


def _labeled_ids(labeled_clients: LabeledClients, num_clients: int) -> frozenset[int]:
    if labeled_clients == "all":
        return frozenset(range(num_clients))
    ids = (
        list(range(labeled_clients))
        if isinstance(labeled_clients, int)
        else [int(client) for client in labeled_clients]
    )
    if not ids or min(ids) < 0 or max(ids) >= num_clients or len(set(ids)) < len(ids):
        raise DataError(
            f"labeled_clients = {labeled_clients!r} does not fit {num_clients} "
            "clients: give a number from 1, different ids from 0, or 'all'",
            "FS3011",
        )
    return frozenset(ids)
