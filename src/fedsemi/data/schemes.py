"""The draws behind a partition: who owns which rows, and which rows have labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from fedsemi.errors import DataError

Rows = npt.NDArray[np.int64]
Scheme = Callable[[Rows, int, int, float, int, np.random.Generator], list[Rows]]

MAX_TRIES = 1000


def dirichlet(
    truth: Rows,
    num_classes: int,
    num_clients: int,
    alpha: float,
    min_size: int,
    rng: np.random.Generator,
) -> list[Rows]:
    """Give each client its own class mix; draw again until all are large enough."""
    if not (np.isfinite(alpha) and alpha > 0):
        raise DataError(f"dirichlet_alpha = {alpha}; it must be above 0", "FS3011")
    smallest = 0
    for _ in range(MAX_TRIES):
        buckets = _dirichlet_once(truth, num_classes, num_clients, alpha, rng)
        size = min(len(rows) for rows in buckets)
        if size >= min_size:
            return [rng.permutation(rows) for rows in buckets]
        smallest = max(smallest, size)
    raise DataError(
        f"in {MAX_TRIES} draws with dirichlet_alpha = {alpha}, some client of "
        f"{num_clients} always had fewer than {min_size} of the {len(truth)} images "
        f"(at best the smallest had {smallest}); use a larger dirichlet_alpha, fewer "
        "clients or a smaller min_size",
        "FS3010",
    )


def iid(
    truth: Rows,
    num_classes: int,
    num_clients: int,
    alpha: float,
    min_size: int,
    rng: np.random.Generator,
) -> list[Rows]:
    """Deal all rows out evenly at random; `alpha` plays no part."""
    return list(np.array_split(rng.permutation(len(truth)), num_clients))


SCHEMES: dict[str, Scheme] = {"dirichlet": dirichlet, "iid": iid}


def labeled_first(buckets: Sequence[Rows], truth: Rows, count: int) -> list[Rows]:
    """Swap the clients that suit best as labeled ones to the ids 0 .. count - 1.

    Best is who owns most classes (all, if anyone does); among those, whose size is
    nearest to N / K; among those, the lowest id.
    """
    ordered = list(buckets)
    fair = len(truth) / len(ordered)
    for position in range(min(count, len(ordered))):
        best = min(
            range(position, len(ordered)),
            key=lambda k: (
                -len(np.unique(truth[ordered[k]])),
                abs(len(ordered[k]) - fair),
                k,
            ),
        )
        ordered[position], ordered[best] = ordered[best], ordered[position]
    return ordered


def split_labeled(
    rows: Rows, truth: Rows, fraction: float, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """Split one client's rows into labeled and unlabeled, near its own class mix.

    At least one row is labeled; rounding goes to the classes cut off most, ties at
    random.
    """
    if not 0 < fraction <= 1:
        raise DataError(
            f"labeled_fraction = {fraction}; it must be above 0 and at most 1", "FS3011"
        )
    classes, of_row = np.unique(truth[rows], return_inverse=True)
    exact = np.bincount(of_row, minlength=len(classes)) * fraction  # [classes here]
    quota = np.floor(exact).astype(np.int64)
    missing = max(1, round(len(rows) * fraction)) - int(quota.sum())
    by_remainder = np.lexsort((rng.random(len(classes)), quota - exact))
    quota[by_remainder[: max(missing, 0)]] += 1
    labeled = np.zeros(len(rows), dtype=bool)
    for position, amount in enumerate(quota):
        members = np.flatnonzero(of_row == position)
        labeled[rng.permutation(members)[:amount]] = True
    return rows[labeled], rows[~labeled]


def check_request(
    truth: Rows, num_classes: int, num_clients: int, min_size: int
) -> None:
    """Refuse what no draw can fulfill, with the reason."""
    if num_clients < 1:
        raise DataError(f"num_clients = {num_clients}; at least 1", "FS3011")
    if truth.ndim != 1 or not len(truth):
        raise DataError("there are no labels to share out", "FS3010")
    if truth.min() < 0 or truth.max() >= num_classes:
        raise DataError(
            f"labels run from {truth.min()} to {truth.max()}, but there are "
            f"{num_classes} classes",
            "FS3010",
        )
    if num_clients * min_size > len(truth):
        raise DataError(
            f"{len(truth)} images cannot give {num_clients} clients {min_size} each; "
            "use fewer clients, more images or a smaller min_size",
            "FS3010",
        )


def _dirichlet_once(
    truth: Rows,
    num_classes: int,
    num_clients: int,
    alpha: float,
    rng: np.random.Generator,
) -> list[Rows]:
    pieces: list[list[Rows]] = [[] for _ in range(num_clients)]
    sizes = np.zeros(num_clients, dtype=np.int64)
    capacity = len(truth) / num_clients
    for label in range(num_classes):
        members = rng.permutation(np.flatnonzero(truth == label))
        # Capacity rule: who is full before a class gets none of it. Shares of a
        # Dirichlet draw, some set to zero and the rest made to sum to one, are a
        # Dirichlet draw over the rest; drawn so, 0 / 0 cannot arise, nor can rounding
        # hand the last row to a full client.
        has_room = np.flatnonzero(sizes < capacity)
        if not len(members):
            continue
        shares = rng.dirichlet(np.full(len(has_room), alpha))
        cuts = (np.cumsum(shares)[:-1] * len(members)).astype(np.int64)
        for client, piece in zip(has_room, np.split(members, cuts), strict=True):
            pieces[client].append(piece)
            sizes[client] += len(piece)
    return [
        np.concatenate(own) if own else np.empty(0, dtype=np.int64) for own in pieces
    ]
