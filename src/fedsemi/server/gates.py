"""The gate of a stage, made of what its method reads and what the experiment says.

Apart from the gate itself, so that the loop of a round needs no config and with it all
methods that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from fedsemi.client.findings import held_out_accuracy
from fedsemi.config.blueprint import Blueprint
from fedsemi.messages import DIVERSITY, Update
from fedsemi.method import Method
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence


def gate_of(blueprint: Blueprint, method: Method[Any]) -> Gate:
    """Build the gate that the replies to a method must pass."""
    evidence = Evidence(
        _shares_of(method) if DIVERSITY in method.statistics else None,
        partial(held_out_accuracy, num_classes=blueprint.model.num_classes),
        blueprint.experiment.alarms,
    )
    sees = method.sends_model
    guard = replace(Guard.of(blueprint.experiment.guard), sees_steps=sees)
    statistics = dict(method.statistics)
    if blueprint.experiment.privacy.statistics_noise:
        # What was zero may be above it now.
        for name, each in statistics.items():
            statistics[name] = replace(each, of_pseudo_labels=False)
    return Gate(guard, statistics, method.pseudo_labels, evidence, sees, method.due)


def _shares_of(method: Method[Any]) -> Callable[[Sequence[Update]], Tensor]:
    def shares(updates: Sequence[Update]) -> Tensor:
        found = method.contributions(updates)
        assert found is not None, "what reads diversities makes shares of them"
        return found

    return shares
