"""Static batch norm: statistics of the model as it is, over everybody's images.

Diao, Ding, Tarokh, HeteroFL, ICLR 2021, and SemiFL, NeurIPS 2022. Nothing of the
statistics of training is kept. Once a model is done, every client passes its images
through it and sends mean and variance of what each batch norm sees; the server joins
them to those of all images together. As in training, a batch is normalized by its own
statistics on its way to the next layer.

With n_k images, mean m_k and variance v_k at client k, all of them together have
m = Σ n_k m_k / n and v = Σ n_k (v_k + m_k²) / n − m².
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from fedsemi.client.networks import networks
from fedsemi.data.client import Client
from fedsemi.data.transfer import sent_to
from fedsemi.messages import ClientInfo, Task, Update, Weights
from fedsemi.objectives.workbench import Setup

_MEAN, _VARIANCE = ".running_mean", ".running_var"
_BATCH = 250
"""Most images that pass at once, as in the released code."""


def statistics_in(setup: Setup, weights: Weights) -> Weights:
    """Return the statistics of all batch norms in a model's weights."""
    layers = _batch_norms(setup.model.empty())
    names = [name + kind for name in layers for kind in (_MEAN, _VARIANCE)]
    return {name: weights[name] for name in names}


def can_measure(client: ClientInfo) -> bool:
    """Say whether a client has statistics; those of one image would be the image."""
    return client.num_labeled + client.num_unlabeled > 1


def measured(task: Task, client: Client, setup: Setup) -> Update:
    """Pass a client's images through the model; send what its batch norms saw.

    A layer that does not train or is not used, as in a frozen encoder, keeps what it
    has.
    """
    student, _ = networks(setup, task.weights)
    layers = _batch_norms(student.train())
    sums = {name: _Sums(layer) for name, layer in layers.items() if layer.training}
    owned = [client.labeled_images, client.unlabeled_images]
    images = torch.cat([setup.shown(each) for each in owned])
    # In parts of about one size, so that none is a lone image.
    parts = torch.tensor_split(images, max(1, -(-len(images) // _BATCH)))
    with torch.no_grad():
        for part in parts:
            student(setup.seen.clean(sent_to(setup.device, part)))
    found = dict(statistics_in(setup, task.weights))
    for name, each in sums.items():
        if each.images:
            mean, variance = each.moments()
            found[name + _MEAN], found[name + _VARIANCE] = mean, variance
    return Update(
        client=task.client,
        round=task.round,
        weights=found,
        num_labeled=client.num_labeled,
        num_unlabeled=client.num_unlabeled,
        group=task.group,
    )


def pooled(updates: Sequence[Update]) -> Weights:
    """Join clients' statistics to those of all their images.

    >>> def sent(id, images, mean, variance):
    ...     told = {"bn.running_mean": [mean], "bn.running_var": [variance]}
    ...     weights = {name: torch.tensor(value) for name, value in told.items()}
    ...     return Update(id, 0, weights, 0, images)
    >>> # Images of 0 and 2 at one client, one of 6 at the other: m = 8/3, v = 56/9.
    >>> found = pooled([sent(1, 2, 1.0, 1.0), sent(2, 1, 6.0, 0.0)])
    >>> {name: round(float(value), 4) for name, value in found.items()}
    {'bn.running_mean': 2.6667, 'bn.running_var': 6.2222}
    """
    images = [update.num_labeled + update.num_unlabeled for update in updates]
    if not sum(images):
        return {}
    parts = torch.tensor(images, dtype=torch.float64) / sum(images)  # [K]
    joined: dict[str, Tensor] = {}
    for name in updates[0].weights:
        if name.endswith(_MEAN):
            other = name.removesuffix(_MEAN) + _VARIANCE
            means, variances = _rows(updates, name), _rows(updates, other)
            mean = parts @ means
            variance = (parts @ (variances + means**2) - mean**2).clamp_min(0)
            joined |= {name: mean.float(), other: variance.float()}
    return joined


def _rows(updates: Sequence[Update], name: str) -> Tensor:
    return torch.stack([update.weights[name].double() for update in updates])  # [K, c]


def _batch_norms(model: nn.Module) -> dict[str, _BatchNorm]:
    return {
        name: layer
        for name, layer in model.named_modules()
        if isinstance(layer, _BatchNorm) and layer.running_mean is not None
    }


class _Sums:
    """Adds up what a layer sees, image by image; positions of an image are averaged."""

    def __init__(self, layer: _BatchNorm) -> None:
        self.images = 0
        self._first = torch.zeros(layer.num_features, dtype=torch.float64)
        self._second = torch.zeros_like(self._first)
        layer.register_forward_pre_hook(self._add)

    def moments(self) -> tuple[Tensor, Tensor]:
        """Return mean and variance of each channel."""
        mean, square = self._first / self.images, self._second / self.images
        return mean.float(), (square - mean**2).clamp_min(0).float()

    def _add(self, layer: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        seen = inputs[0].detach().double().cpu()
        seen = seen.reshape(*seen.shape[:2], -1)  # [B, c, positions]
        self.images += len(seen)
        self._first += seen.mean(2).sum(0)
        self._second += (seen**2).mean(2).sum(0)
