"""A method whose attackers lie before their answers are masked.

Under masks nobody sees a single answer, so that attackers forge what goes into the sum.
They run our software otherwise: they keep to the norm bound, which is theirs to keep.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Method, WrappedMethod
from fedsemi.privacy.masked import Masked
from fedsemi.simulation.attacks import Forge, Scene, Turn
from fedsemi.sums import Sums


class Hostile(WrappedMethod[Any]):
    """Does as another method does, but for clients that have a scene."""

    def __init__(
        self, method: Method[Any], forge: Forge, scenes: Mapping[int, Scene]
    ) -> None:
        super().__init__(method)
        self._forge = forge
        self._scenes = scenes
        self._first: dict[int, Turn] = {}

    def as_sums(self) -> Sums:
        """Sum as the method does."""
        return self.method.as_sums()

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Train as the method does; attackers then answer something else."""
        update, kept = self.method.train(task, client, memory)
        if client.id not in self._scenes:
            return update, kept
        # What others send in this round is masked, so that there is no limit to go by.
        scene, first = self._scenes[client.id], self._first.get(client.id)
        turn = Turn(update, task, scene, math.inf, first)
        self._first.setdefault(client.id, turn)
        return self._forge(turn)[0], kept


def hostile(method: Method[Any], forge: Forge, scenes: Mapping[int, Scene]) -> Masked:
    """Let attackers forge what a masked method sums."""
    assert isinstance(method, Masked), "only masked methods send no model"
    return Masked(Hostile(method.method, forge, scenes), method.terms)
