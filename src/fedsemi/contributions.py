"""How much each update counts: pure functions from updates to shares.

FedAvg, FedAvg-Semi and SemiAnAgg are one weighted mean and differ in its shares only.
Each function returns a share per update, in the order of the updates. Shares sum to
one; where nobody has anything to offer they are all zero, and the global model stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from fedsemi.errors import ProtocolError
from fedsemi.messages import CLASS_COUNT, DIVERSITY, Update
from fedsemi.seeds import Streams, seed_of
from fedsemi.weights import distance, weighted_mean

Rule = Literal["paper", "released", "presence"]


def by_data_size(updates: Sequence[Update], labeled_multiplier: float = 1.0) -> Tensor:
    """Weigh by labeled plus pseudo-labeled samples (FedAvg).

    CBAFed counts a label as often as its multiplier says.
    """
    labeled = labeled_multiplier * _column(updates, "num_labeled")
    return _normalized(labeled + _column(updates, "num_pseudo"))


def by_num_images(updates: Sequence[Update]) -> Tensor:
    """Weigh by all images, with labels or without (IsoFed, self-supervision)."""
    return _normalized(_column(updates, "num_labeled", "num_unlabeled"))


def by_supervision(updates: Sequence[Update], labeled_share: float = 0.5) -> Tensor:
    """Weigh labeled data and confident pseudo-labels apart (FedAvg-Semi, Eq. 2)."""
    unlabeled = _normalized(_column(updates, "num_pseudo"))
    return _join(updates, unlabeled, labeled_share)


def shares_by(
    score: Tensor | Sequence[float],
    updates: Sequence[Update],
    labeled_share: float = 0.5,
) -> Tensor:
    """Weigh unlabeled clients by numbers of one's own, labeled ones by their labels.

    >>> labels, images = (20, 0, 0), (0, 50, 10)  # of clients 0, 1 and 2
    >>> updates = [Update(k, 0, {}, labels[k], images[k]) for k in range(3)]
    >>> shares_by([9.0, 1.0, 3.0], updates).tolist()
    [0.5, 0.125, 0.375]

    Args:
        score: One for each update, not negative; that of a client without unlabeled
            images is not read.
        updates: Of this round.
        labeled_share: Share of the mean that goes to labeled data.
    """
    scores = torch.as_tensor(score, dtype=torch.float64)
    holders = _column(updates, "num_unlabeled") > 0
    if scores.shape != holders.shape or not bool((scores[holders] >= 0).all()):
        raise ProtocolError(
            f"{list(scores.shape)} scores for {len(updates)} updates; give one for "
            "each, a number that is not negative",
            code="FS2123",
        )
    unlabeled = torch.where(holders, scores, torch.zeros_like(scores))
    return _join(updates, _normalized(unlabeled), labeled_share)


def by_diversity(
    updates: Sequence[Update],
    labeled_share: float = 0.5,
    rule: Rule = "paper",
    sharpness: float = 1.0,
) -> Tensor:
    """Weigh unlabeled clients by their distance from the anchor (SemiAnAgg, Eq. 4)."""
    unlabeled = sharpened(_diversity_shares(updates, rule), sharpness)
    return _join(updates, unlabeled, labeled_share)


def sharpened(shares: Tensor, sharpness: float) -> Tensor:
    """Raise shares [K] to a power and let them sum to what they did.

    One leaves them alone, zero makes those above zero equal, more tells clients apart
    more than the rule does.
    """
    if sharpness == 1:
        return shares
    powers = torch.where(shares > 0, shares**sharpness, 0.0)
    return shares.sum() * _normalized(powers)


def by_class_mass(
    updates: Sequence[Update],
    labeled_share: float = 0.5,
    floor: float = 0.0,
    power: float = 1.0,
) -> Tensor:
    """Weigh unlabeled clients by their part of each class's pseudo-labels."""
    find = partial(class_mass, floor=floor, power=power)
    unlabeled = _shares_of_holders(updates, CLASS_COUNT, find)
    return _join(updates, unlabeled, labeled_share)


def class_mass(count: Tensor, floor: float = 0.0, power: float = 1.0) -> Tensor:
    """Share every class out by its pseudo-labels, and all classes alike.

    Args:
        count: Pseudo-labels of each client and class, n_kc, [K, C].
        floor: A class with a smaller part of a client's pseudo-labels is not its own:
            a few wrong labels shall not claim it.
        power: Of the counts.

    Returns:
        Shares [K], Σ_c n_kc / Σ_j n_jc divided by the number of classes that anybody
        owns; zeros if there is none.
    """
    own = (count > 0) & (count >= floor * count.sum(1, keepdim=True))
    claim = torch.where(own, count**power, 0.0)
    per_class = claim / _nonzero(claim.sum(0))  # [K, C]
    return _normalized(per_class.sum(1))


def uniform(updates: Sequence[Update], labeled_share: float = 0.5) -> Tensor:
    """Give every client with unlabeled data the same share of the unlabeled half.

    The control that SemiAnAgg must beat: whatever it gains over this comes from its
    weights, not from having left sample counts behind.
    """
    present = (_column(updates, "num_unlabeled") > 0).double()
    return _join(updates, _normalized(present), labeled_share)


def permuted(
    updates: Sequence[Update],
    labeled_share: float = 0.5,
    rule: Rule = "paper",
    seed: int = 0,
    sharpness: float = 1.0,
) -> Tensor:
    """Hand SemiAnAgg's shares to the wrong unlabeled clients, anew in each round.

    The control for the spread of the weights: the same numbers, without their meaning.
    """
    unlabeled = sharpened(_diversity_shares(updates, rule), sharpness)
    holders = torch.nonzero(_column(updates, "num_unlabeled")).flatten()
    stream = Streams(seed_of(seed, "permuted", updates[0].round if updates else 0))
    order = torch.randperm(len(holders), generator=stream["order"])
    unlabeled[holders] = unlabeled[holders[order]]
    return _join(updates, unlabeled, labeled_share)


def diversity_weights(diversity: Tensor, rule: Rule = "paper") -> Tensor:
    """Turn the diversities r of the unlabeled clients into their shares (Eq. 4).

    Args:
        diversity: r = 1 - similarity, [K, C]; 0 where a client has no such class.
        rule: "paper" divides r by its sum over clients, class by class; "released"
            is what the authors' code does: it divides the similarity by its sum and
            takes one minus that, which holds every share below 1 / (K - 1);
            "presence" asks only who shows a class: the control for what the distance
            from the anchor adds.

    Returns:
        Shares [K], summing to one, or zeros if no client shows any diversity.
    """
    if rule != "released":
        claim = diversity if rule == "paper" else (diversity > 0).to(diversity)
        per_class = claim / _nonzero(claim.sum(0))  # [K, C]
        return _normalized(per_class.sum(1))
    if not diversity.any() or len(diversity) == 1:
        return _normalized(diversity.sum(1))
    similarity = 1 - diversity
    per_class = 1 - similarity / _nonzero(similarity.sum(0))
    return _normalized(per_class.sum(1))


def by_label_status(updates: Sequence[Update], labeled_share: float = 0.5) -> Tensor:
    """Weigh labeled and unlabeled samples apart, whether confident or not."""
    unlabeled = _normalized(_column(updates, "num_unlabeled"))
    return _join(updates, unlabeled, labeled_share)


def by_consensus(
    updates: Sequence[Update],
    scales: tuple[float, float],
    boost: float = 6.0,
    boost_once: bool = False,
    legacy_distance: bool = False,
) -> Tensor:
    """Weigh within each group by closeness to its mean; groups count alike (RSCFed).

    Args:
        updates: The answers of all groups.
        scales: How fast a weight falls with the distance, in a group with labels and
            in one without.
        boost: How much more a client with labels counts.
        boost_once: Whether the boost enters the group's mean only; as released, it
            enters the final weights a second time.
        legacy_distance: Whether batch-norm step counters are part of the distance, as
            released.
    """
    shares = torch.zeros(len(updates), dtype=torch.float64)
    for group in sorted({update.group for update in updates}):
        members = [i for i, update in enumerate(updates) if update.group == group]
        chosen = [updates[i] for i in members]
        size = _column(chosen, "num_labeled", "num_unlabeled")
        labeled = _column(chosen, "num_labeled") > 0
        start = consensus_start(size, labeled, boost)
        shares[members] = consensus_weights(
            start,
            size,
            _distances(chosen, start, legacy_distance),
            scales[0] if labeled.any() else scales[1],
            torch.where(labeled & (not boost_once), boost, 1.0),
        )
    return _normalized(shares)


def consensus_start(size: Tensor, labeled: Tensor, boost: float) -> Tensor:
    """Return the shares of a group's first mean, [P]: by size, labels boosted."""
    return _normalized(size * torch.where(labeled, boost, 1.0))


def consensus_weights(
    start: Tensor, size: Tensor, distance: Tensor, scale: float, boost: Tensor
) -> Tensor:
    """Return boost * start * exp(-scale * distance / size), normalized, [P].

    In log space: at a scale of 10,000 every weight would underflow to zero.
    """
    log = (boost * start).log() - scale * distance / _nonzero(size)
    return log.softmax(0) if start.any() else start


def _distances(updates: Sequence[Update], shares: Tensor, legacy: bool) -> Tensor:
    many = [update.weights for update in updates]
    if legacy:
        many = [{key: value.double() for key, value in w.items()} for w in many]
    center = weighted_mean(many[0], many, shares)
    return torch.tensor([distance(w, center) for w in many], dtype=torch.float64)


def _diversity_shares(updates: Sequence[Update], rule: Rule) -> Tensor:
    return _shares_of_holders(updates, DIVERSITY, partial(diversity_weights, rule=rule))


def _shares_of_holders(
    updates: Sequence[Update], name: str, find: Callable[[Tensor], Tensor]
) -> Tensor:
    """Let clients with unlabeled data share by a statistic; others have nothing."""
    holders = [i for i, update in enumerate(updates) if update.num_unlabeled]
    shares = torch.zeros(len(updates), dtype=torch.float64)
    if holders:
        rows = torch.stack([statistic(updates[i], name) for i in holders])
        shares[holders] = find(rows)
    return shares


def _join(updates: Sequence[Update], unlabeled: Tensor, labeled_share: float) -> Tensor:
    """Add the labeled part; a part that nobody holds leaves its share to the other."""
    labeled = _normalized(_column(updates, "num_labeled"))
    if not unlabeled.any():
        return labeled
    if not labeled.any():
        return unlabeled
    return labeled_share * labeled + (1 - labeled_share) * unlabeled


def _column(updates: Sequence[Update], *names: str) -> Tensor:
    rows = [sum(getattr(update, name) for name in names) for update in updates]
    return torch.tensor(rows, dtype=torch.float64)


def _normalized(values: Tensor) -> Tensor:
    return values / _nonzero(values.sum())


def _nonzero(values: Tensor) -> Tensor:
    return torch.where(values == 0, torch.ones_like(values), values)


def statistic(update: Update, name: str) -> Tensor:
    """Return a statistic that the aggregation cannot do without."""
    if name not in update.statistics:
        raise ProtocolError(
            f"client {update.client} did not send the statistic '{name}', which this "
            "aggregation needs; use a local objective that measures it",
            code="FS2101",
        )
    return update.statistics[name].double()
