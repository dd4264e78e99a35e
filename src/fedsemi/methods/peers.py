"""Which clients' models are alike: they say the same of one picture of noise.

Jeong, Yoon, Yang, Hwang, Federated Semi-Supervised Learning with Inter-Client
Consistency and Disjoint Learning, ICLR 2021 (FedMatch).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn

from fedsemi.client.networks import frozen
from fedsemi.messages import Weights
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of


def noise_picture(setup: Setup, seed: int) -> Tensor:
    """Draw the picture, uint8 [1, C, H, W]: gray levels around 125, cut to 0 to 255."""
    size, channels = setup.views.size, setup.model.in_channels
    picture = torch.empty(1, channels, size, size)
    draw = Streams(seed_of(seed, "peers"))["noise"]
    nn.init.trunc_normal_(picture, 125, 125, 0, 255, generator=draw)
    return picture.to(torch.uint8)


@torch.no_grad()
def said_of(setup: Setup, weights: Weights, picture: Tensor) -> Tensor:
    """Return the class probabilities of a picture under a model, [C]."""
    model = frozen(setup.load(setup.model.own(weights)))
    view = setup.seen.clean(setup.shown(picture).to(setup.device))
    probs: Tensor = model(view).logits.softmax(1)
    return probs[0].cpu()


def nearest(
    said: Mapping[int, Tensor], client: int, there: Collection[int], most: int
) -> list[int]:
    """Name the clients that say the most similar, the nearest first.

    >>> said = {1: (0.9, 0.1), 2: (0.2, 0.8), 3: (0.7, 0.3), 4: (0.6, 0.4)}
    >>> tensors = {id: torch.tensor(each) for id, each in said.items()}
    >>> nearest(tensors, 1, {1, 2, 3, 4, 5}, most=2)
    [3, 4]
    >>> nearest(tensors, 1, {1, 2}, most=2), nearest(tensors, 5, {1, 2, 5}, most=2)
    ([2], [])

    Args:
        said: What their models said when last seen, by id.
        client: Whose peers are looked for; one never seen has none.
        there: Who takes part; nobody else's model is handed on.
        most: How many to name.
    """
    if client not in said:
        return []
    own = said[client]
    gaps = {
        other: float((said[other] - own).norm())
        for other in sorted(said.keys() & set(there) - {client})
    }
    return sorted(gaps, key=gaps.__getitem__)[:most]
