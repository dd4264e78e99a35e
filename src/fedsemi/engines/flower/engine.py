"""The engine whose clients are sites on a Flower grid."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from flwr.app import RecordDict
from flwr.serverapp import Grid

from fedsemi.engines.flower.codec import Order, decode_update, encode_order, num_bytes
from fedsemi.engines.flower.post import exchange, logger
from fedsemi.engines.flower.roster import Roster
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Memory, Task, Update

_AFTER = "after"
_SPARE_BYTES = 1 << 20


@dataclass(frozen=True)
class Patience:
    """How long a round waits for its sites, and for how many of them."""

    deadline: float = 600.0
    """Seconds for the tasks of one wave; a later answer is dropped."""
    quorum: float = 0.5
    """Share of the asked sites that must answer, or the wave is repeated."""
    attempts: int = 3
    """How often a wave below its quorum is tried before the run stops."""


PATIENCE = Patience()


class FlowerEngine:
    """Runs the tasks of one stage on the sites of a roster.

    One client's tasks go out in waves, one after the other, because they share its
    memory. A site that is away, fails or comes late is missing from the result.
    """

    def __init__(
        self, grid: Grid, roster: Roster, stage: int, patience: Patience = PATIENCE
    ) -> None:
        self._grid = grid
        self._roster = roster
        self._stage = stage
        self._patience = patience
        self._after: dict[int, int] = {}

    def clients(self) -> Sequence[ClientInfo]:
        """List the sites that have joined."""
        return self._roster.infos()

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out the tasks on the sites."""
        chains: dict[int, deque[Task]] = {}
        for task in tasks:
            chains.setdefault(task.client, deque()).append(task)
        updates: list[Update] = []
        while chains:
            updates += self._wave({id: chain.popleft() for id, chain in chains.items()})
            chains = {id: chain for id, chain in chains.items() if chain}
        return sorted(updates, key=lambda update: (update.group, update.client))

    def memory(self, client: int) -> Memory:
        """Return which task a site's memory stems from; the rest stays at the site."""
        return {_AFTER: torch.tensor(self._after.get(client, 0))}

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Let sites continue from the tasks that a checkpoint names."""
        self._after = {id: int(memory[_AFTER]) for id, memory in memories.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._after.clear()

    def _wave(self, tasks: Mapping[int, Task]) -> list[Update]:
        """Ask each client once; repeat for those missing while there is no quorum."""
        needed = max(1, math.ceil(self._patience.quorum * len(tasks)))
        done: dict[int, Update] = {}
        for _ in range(self._patience.attempts):
            deadline = time.monotonic() + self._patience.deadline
            while self._ask(tasks, done, deadline):
                pass
            if len(done) >= needed:
                return list(done.values())
            time.sleep(max(0.0, min(5.0, deadline - time.monotonic())))
        raise ProtocolError(
            f"round {min(t.round for t in tasks.values()) + 1}: {len(done)} of "
            f"{len(tasks)} sites answered in {self._patience.attempts} attempts, "
            f"{needed} are needed; start the coordinator again when they are back",
            code="FS2201",
        )

    def _ask(
        self, tasks: Mapping[int, Task], done: dict[int, Update], deadline: float
    ) -> bool:
        """Send what is not done to the sites that are there.

        Returns:
            Whether a site was cut off in the middle and is there again.
        """
        online = self._roster.online()
        open_tasks = {
            id: t for id, t in tasks.items() if id not in done and id in online
        }
        letters = {id: (online[id], self._encoded(t)) for id, t in open_tasks.items()}
        limit = max((num_bytes(content) for _, content in letters.values()), default=0)
        post = exchange(
            self._grid,
            letters,
            "train",
            lambda content: decode_update(content, limit + _SPARE_BYTES),
            deadline,
        )
        for id, update in post.items():
            if (update.client, update.round, update.group) != _address(tasks[id]):
                post.refused[id] = "FS2106 the answer is to another task"
                continue
            done[id] = update
            self._after[id] = tasks[id].seed
        for id in sorted(tasks.keys() - done.keys()):
            reason = post.refused.get(id, "FS5002 the site is not connected")
            logger.warning("round %s, site %s: %s", tasks[id].round + 1, id, reason)
        back = post.lost & self._roster.online().keys()
        return bool(back) and time.monotonic() < deadline

    def _encoded(self, task: Task) -> RecordDict:
        after = self._after.get(task.client, 0)
        return encode_order(Order(task, self._stage, after))


def _address(task: Task) -> tuple[int, int, int]:
    return task.client, task.round, task.group
