"""How much of the unlabeled share a liar gets by its claims, under Eq. 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from benchmarks.common import Section
from fedsemi.contributions import by_diversity, diversity_weights
from fedsemi.messages import DIVERSITY, ClientInfo, Task, Update
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence
from fedsemi.server.replies import Reply
from fedsemi.state import GuardState

SIZES = ((9, 10), (4, 7), (2, 10))
"""Unlabeled sites and classes."""
DRAWS = 400
_START = {"x": torch.zeros(1)}


def claims(times: int) -> Section:
    """Draw matrices of diversities, let the first site lie, and share out."""
    rows: dict[str, Callable[[Tensor], float]] = {
        "honest": lambda m: float(diversity_weights(m)[0]),
        "claims 1 everywhere, no guard": lambda m: float(
            diversity_weights(_lying(m, 1.0))[0]
        ),
        "claims 10⁶, no gate, no guard": lambda m: float(
            diversity_weights(_lying(m, 1e6))[0]
        ),
        "claims 1 everywhere, guard": lambda m: float(_kept(_lying(m, 1.0))[0]),
        "released rule, claims 1 everywhere": lambda m: float(
            diversity_weights(_lying(m, 1.0), "released")[0]
        ),
        "change of honest shares by the guard, L1": lambda m: float(
            (_kept(m) - diversity_weights(m)).abs().sum()
        ),
    }
    drawn = [[honest_matrix(*size, seed) for seed in range(DRAWS)] for size in SIZES]
    table = [
        [name, *(_mean_and_most([value(m) for m in some]) for some in drawn)]
        for name, value in rows.items()
    ]
    return Section(
        "What claims are worth",
        f"A liar's part of the unlabeled share under Eq. 4, mean of {DRAWS} drawn "
        "matrices (largest in brackets); class means 0.25 to 0.55, clients 0.05 around "
        "them, a quarter of the classes absent; no trust earned.",
        ["", *(f"K_U = {sites}, C = {classes}" for sites, classes in SIZES)],
        table,
    )


def _mean_and_most(values: Sequence[float]) -> str:
    mean, most = sum(values) / len(values), max(values)
    return f"{mean:.2g} ({most:.2g})" if mean < 0.01 else f"{mean:.3f} ({most:.3f})"


def honest_matrix(clients: int, classes: int, seed: int) -> Tensor:
    """Class means of 0.25 to 0.55, clients 0.05 around them, a quarter absent."""
    make = torch.Generator().manual_seed(seed)
    size = clients, classes
    mean = 0.25 + 0.3 * torch.rand(1, classes, generator=make, dtype=torch.double)
    noise = 0.05 * torch.randn(size, generator=make, dtype=torch.double)
    present = torch.rand(size, generator=make) < 0.75
    return (mean + noise).clamp(0.01, 1) * present


def _lying(matrix: Tensor, claim: float) -> Tensor:
    lied = matrix.clone()
    lied[0] = claim
    return lied


def _kept(matrix: Tensor) -> Tensor:
    """Return what the guard leaves of the shares [K]."""

    def shares(updates: Sequence[Update]) -> Tensor:
        return by_diversity(updates, 0.0)

    replies = [_reply(client, row) for client, row in enumerate(matrix)]
    ruling = Guard(enabled=True).rule(replies, GuardState(), Evidence(shares))
    parts = [ruling.kept.get(client, 1.0) for client in range(len(replies))]
    free = shares([reply.update for reply in ruling.replies])
    return free * torch.tensor(parts, dtype=torch.double)


def _reply(client: int, row: Tensor) -> Reply:
    info = ClientInfo(client, 0, 40)
    told = {DIVERSITY: row}
    update = Update(client, 0, {"x": torch.ones(1)}, 0, 40, 20, told)
    return Reply(update, Task(client, 0, _START), info, 1.0, inflated=False)
