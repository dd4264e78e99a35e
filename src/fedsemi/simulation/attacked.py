"""An engine with hostile clients, and all attacks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fedsemi.data.client import Client
from fedsemi.engine import WrappedEngine
from fedsemi.engines.in_process import InProcess
from fedsemi.messages import Task, Update
from fedsemi.method import Method
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import remembering
from fedsemi.server.replies import Refused, Reply, step_length
from fedsemi.simulation.adaptive import ADAPTIVE
from fedsemi.simulation.attacks import FORGERIES, POISONS, Forge, Scene, Turn
from fedsemi.state import GuardState

_REPLIES: dict[str, Forge] = {**FORGERIES, **ADAPTIVE}
ATTACKS = (*FORGERIES, *POISONS, *ADAPTIVE)
NEED_TRUTH = tuple(
    name
    for name in _REPLIES
    if name not in ("nan", "giant", "scaled", "lie", "trigger")
)
"""Those that teach wrong classes, and must know the right ones for it."""
TOGETHER = {"pair": 2}
"""How many clients attack at once, where it is not one."""
_LONG = 1e6
"""A step that is longer than any that learns."""


class AttackedEngine(WrappedEngine):
    """Runs clients in this process, some of them hostile.

    An attacker answers last: it knows what all others answer in this round.
    """

    def __init__(
        self,
        method: Method[Any],
        clients: Sequence[Client],
        attack: str,
        scenes: Mapping[int, Scene],
    ) -> None:
        poison = POISONS.get(attack)
        owned = [poison(c) if poison and c.id in scenes else c for c in clients]
        self._infos = {client.id: client.info for client in clients}
        self._forge = _REPLIES.get(attack)
        if self._forge is not None and not method.sends_model:
            # Not at the top: masks need a package that plain runs do without.
            from fedsemi.simulation.hostile import hostile

            method, self._forge = hostile(method, self._forge, scenes), None
        self._due = method.due
        self._clients = InProcess(method, owned)
        super().__init__(self._clients)
        self._scenes = scenes
        self._first: dict[int, Turn] = {}
        self._guard = GuardState()

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out the tasks; the attackers' replies are forged."""
        asked = {(task.group, task.client): task for task in tasks}
        honest = self._clients.run(tasks)
        learns = all(self._due(task) is task.weights for task in tasks)
        if self._forge is None or not learns:  # an attack is on what is learned
            return honest
        limit = self._limit(honest, asked)
        updates: list[Update] = []
        for update in honest:
            if update.client in self._scenes:
                task = asked[update.group, update.client]
                updates += self._forged(self._forge, update, task, limit)
            else:
                updates.append(update)
        return updates

    def close(self, failed: bool = False) -> None:
        """Forget what clients remember."""
        self._clients.close(failed)

    def _forged(
        self, forge: Forge, update: Update, task: Task, limit: float
    ) -> list[Update]:
        scene = self._scenes[update.client]
        turn = Turn(update, task, scene, limit, self._first.get(update.client))
        self._first.setdefault(update.client, turn)
        return forge(turn)

    def _limit(
        self, honest: Sequence[Update], asked: Mapping[tuple[int, int], Task]
    ) -> float:
        """Return the longest step that passes, the attackers' being longer."""
        replies = []
        for update in honest:
            task, info = asked[update.group, update.client], self._infos[update.client]
            norm = _length(update, task)
            replies.append(Reply(update, task, info, norm, inflated=False))
        hostile = [reply.info.id in self._scenes for reply in replies]
        longer = [
            replace(reply, norm=_LONG) if bad else reply
            for reply, bad in zip(replies, hostile, strict=True)
        ]
        limits = Guard(enabled=True).limits(longer, self._guard)
        passing = [min(x, _LONG) for x, bad in zip(limits, hostile, strict=True) if bad]
        self._guard = remembering(self._guard, replies, [1.0] * len(replies))
        return min(passing, default=_LONG)


def _length(update: Update, task: Task) -> float:
    """Measure a step; one from a model that an attack has destroyed is no step."""
    try:
        return step_length(update.weights, task.weights)
    except Refused:
        return 0.0
