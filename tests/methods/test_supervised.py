"""FedAvg on labels: what it learns from, by its setting."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from fedsemi.messages import Task
from fedsemi.methods.head_only import HeadOnlyFedAvg
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.objectives.base import LabelView
from fedsemi.objectives.workbench import Setup
from fedsemi.weights import digest, weights_of


@pytest.mark.parametrize("method", [SupervisedFedAvg, HeadOnlyFedAvg])
def test_each_choice_of_views_learns_something_else(
    method: Any, tiny_setup: Setup, make_client: Any
) -> None:
    task = Task(0, 0, weights_of(tiny_setup.model.build(0)), seed=3)
    client = make_client(0, 8, 0)
    learned = {
        digest(method(tiny_setup, views=views).train(task, client, {})[0].weights)
        for views in get_args(LabelView)
    }
    assert len(learned) == 3
    default, _ = method(tiny_setup).train(task, client, {})
    both, _ = method(tiny_setup, views="strong").train(task, client, {})
    assert digest(default.weights) == digest(both.weights)
