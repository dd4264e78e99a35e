"""The weighted mean alone, against a plain copy of the same bytes."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from benchmarks.common import Section, make_setup, medians
from fedsemi.messages import Weights
from fedsemi.weights import num_bytes, weighted_mean


def aggregation(times: int) -> Section:
    """Item 7: 11 M parameters of 10 and of 1000 clients."""
    spec = make_setup("resnet18-cifar").model
    models = [dict(spec.build(seed).state_dict()) for seed in range(10)]
    size = num_bytes(models[0]) / 1e9
    target = {key: value.clone() for key, value in models[0].items()}

    def copy() -> None:
        for model in models:
            for key, value in model.items():
                target[key].copy_(value)

    rows = []
    for clients in (10, 1000):
        # Ten models over and over: each is far larger than the cache.
        many = models * (clients // 10)
        shares = torch.full((clients,), 1 / clients, dtype=torch.float64)

        def mean(many: Sequence[Weights] = many, shares: Tensor = shares) -> None:
            weighted_mean(models[0], many, shares)

        rounds = times if clients == 10 else 1
        plain, taken = medians([copy, mean], rounds, time.process_time)
        speed, plain_speed = size * clients / taken, size * 10 / plain
        rows.append(
            [
                f"{clients}",
                f"{taken:.2f} s",
                f"{speed:.1f} GB/s",
                f"{plain_speed:.1f} GB/s",
                f"{plain_speed / speed:.1f}",
            ]
        )
    return Section(
        "Aggregation",
        "The weighted mean of ResNet-18 (11 M parameters) in double precision on one "
        "core, bytes of the clients' models per second. Adding four bytes to an "
        "accumulator of eight moves 20 bytes, a copy moves 8: 2.5 is the limit.",
        ["clients", "seconds", "mean", "plain copy", "copy / mean"],
        rows,
    )
