"""The engine whose clients are sites on a Flower grid."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from flwr.app import RecordDict
from flwr.serverapp import Grid

from fedsemi.client.wire import declared_by
from fedsemi.deployment.codec import Order, decode_update, encode_order, num_bytes
from fedsemi.deployment.coordinator.post import (
    AWAY,
    BROKEN_OFF,
    LATE,
    OTHER_TASK,
    REFUSED,
    SPARE_BYTES,
    Post,
    Refusal,
    exchange,
    logger,
)
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.standing import EXCUSES
from fedsemi.engine import Absence, Engine
from fedsemi.errors import ProtocolError
from fedsemi.messages import Answer, ClientInfo, Failure, Memory, Task, Update
from fedsemi.method import Method

_AFTER = "after"
_BLAMELESS = (AWAY, LATE, *EXCUSES)
_LONGEST_REST = 32
_PAUSE = 5.0


@dataclass(frozen=True)
class Patience:
    """How long a round waits for its sites, and for how many of them."""

    deadline: float = 600.0
    """Seconds for the tasks of one wave; a later answer is dropped."""
    quorum: float = 0.5
    """Share of the asked sites that must answer, or the wave is repeated."""
    attempts: int = 3
    """How often a wave below its quorum is tried before the run stops."""
    repeats: int = 2
    """How often a site that breaks its task off is given it again in an attempt."""


PATIENCE = Patience()


class FlowerEngine(Engine):
    """Runs the tasks of one stage on the sites of a roster.

    One client's tasks go out in waves, one after the other, because they share its
    memory. A site that is away or late is missing from the result; one that answers
    with something else than an update stands there as a `Failure`.
    """

    def __init__(
        self,
        grid: Grid,
        roster: Roster,
        method: Method[Any],
        stage: int,
        patience: Patience = PATIENCE,
    ) -> None:
        self._grid = grid
        self._roster = roster
        self._stage = stage
        self._patience = patience
        self._sends_model = method.sends_model
        self._declared = declared_by(method, roster.blueprint.model.num_classes)
        self._after: dict[int, int] = {}
        self._largest = 0
        """Bytes of the largest order so far."""
        self._missed: Counter[int] = Counter()
        """Deadlines that a site has missed in a row."""
        self._rests: dict[int, int] = {}
        """The round in which a site is asked again."""

    def clients(self) -> Sequence[ClientInfo]:
        """List the sites that have joined, also those that came a moment ago."""
        self._roster.online()
        self._roster.revisit()
        return self._roster.infos()

    def absent(self, round: int) -> Mapping[int, Absence]:
        """Say which sites have left, were retired, or are away."""
        return self._roster.absent()

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out the tasks on the sites."""
        chains: dict[int, deque[Task]] = {}
        for task in tasks:
            chains.setdefault(task.client, deque()).append(task)
        updates: list[Update] = []
        failures: dict[int, Failure] = {}
        while chains:
            wave = {id: chain.popleft() for id, chain in chains.items()}
            done, failed = self._wave(wave)
            updates += done.values()
            failures |= failed
            # Who has failed at one task of a round is not asked for the others.
            chains = {id: c for id, c in chains.items() if c and id not in failed}
        updates.sort(key=lambda update: (update.group, update.client))
        return [*updates, *failures.values()]

    def memory(self, client: int) -> Memory:
        """Return which task a site's memory stems from; the rest stays at the site."""
        return {_AFTER: torch.tensor(self._after.get(client, 0))}

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Let sites continue from the tasks that a checkpoint names."""
        self._after = {id: int(memory[_AFTER]) for id, memory in memories.items()}

    def close(self, failed: bool = False) -> None:
        """Forget which tasks sites continue from."""
        self._after.clear()

    def _wave(
        self, tasks: Mapping[int, Task]
    ) -> tuple[dict[int, Update], dict[int, Failure]]:
        """Ask each client once; repeat for those missing while there is no quorum."""
        needed = max(1, math.ceil(self._patience.quorum * len(tasks)))
        done: dict[int, Update] = {}
        refused: dict[int, Refusal] = {}
        awaited = self._awaited(tasks, needed)
        for _ in range(self._patience.attempts):
            deadline = time.monotonic() + self._patience.deadline
            asked = {id: task for id, task in awaited.items() if id not in done}
            broken_off: Counter[int] = Counter()
            while asked:
                post = self._ask(asked, deadline)
                asked = self._to_repeat(asked, post, broken_off, deadline)
                done |= post
                refused |= post.refused
            if len(done) >= needed or self._final(awaited, done, refused):
                return done, self._judged(awaited, done, refused)
            time.sleep(max(0.0, min(_PAUSE, deadline - time.monotonic())))
        raise ProtocolError(
            f"round {min(t.round for t in tasks.values()) + 1}: {len(done)} of "
            f"{len(tasks)} sites answered in {self._patience.attempts} attempts, "
            f"{needed} are needed; start the coordinator again when they are back",
            code="FS2201",
        )

    def _final(
        self,
        tasks: Mapping[int, Task],
        done: Mapping[int, Update],
        refused: Mapping[int, Refusal],
    ) -> bool:
        """Tell whether all others will refuse again, and the round is to be skipped.

        What a site will not sum once it will never sum: its masks were used, or the set
        is another one than before.
        """
        codes = {refused[id].code for id in tasks if id not in done and id in refused}
        return not self._sends_model and codes == {REFUSED}

    def _awaited(self, tasks: Mapping[int, Task], needed: int) -> Mapping[int, Task]:
        """Leave out the sites that rest, unless there are too few others."""
        awake = {
            id: task
            for id, task in tasks.items()
            if self._rests.get(id, 0) <= task.round
        }
        return awake if len(awake) >= needed else tasks

    def _ask(self, tasks: Mapping[int, Task], deadline: float) -> Post[int, Update]:
        """Send tasks to the sites that are there, and check who answers what."""
        online = self._roster.online()
        letters = {
            id: (online[id], self._encoded(task))
            for id, task in tasks.items()
            if id in online
        }
        sizes = (num_bytes(content) for _, content in letters.values())
        # Masked numbers answer a letter, and are as many as the model that came before.
        self._largest = max(self._largest, *sizes, 0)
        limit = self._largest + SPARE_BYTES
        decode = partial(decode_update, limit=limit, declared=self._declared)
        post = exchange(self._grid, letters, "train", decode, deadline, limit)
        for id, update in list(post.items()):
            if address_of(update) != address_of(tasks[id]):
                post.refused[id] = OTHER_TASK
                del post[id]
                continue
            if tasks[id].weights:  # a step without a model leaves no memory
                self._after[id] = tasks[id].seed
        for id in sorted(tasks.keys() - post.keys()):
            away = Refusal(AWAY, "the site is not connected")
            reason = post.refused.setdefault(id, away)
            if reason.code in EXCUSES:
                self._roster.excuse(id, reason)
            logger.warning("round %s, site %s: %s", tasks[id].round + 1, id, reason)
        return post

    def _to_repeat(
        self,
        tasks: Mapping[int, Task],
        post: Post[int, Update],
        broken_off: Counter[int],
        deadline: float,
    ) -> dict[int, Task]:
        """Return the tasks to send again, to sites that are there.

        Those that could not be sent until the deadline; those that a site broke off
        as often as our patience allows.
        """
        if not post.lost:
            return {}
        online = self._roster.online()
        for id in post.lost - online.keys():
            # It went away in the middle, which is nobody's fault.
            post.refused[id] = Refusal(AWAY, "the site is gone")
        codes = {id: post.refused[id].code for id in sorted(post.lost & online.keys())}
        broken_off.update(id for id, code in codes.items() if code == BROKEN_OFF)
        if AWAY in codes.values():
            time.sleep(_PAUSE)
        if time.monotonic() >= deadline:
            return {}
        most = self._patience.repeats
        return {id: tasks[id] for id in codes if broken_off[id] <= most}

    def _judged(
        self,
        tasks: Mapping[int, Task],
        done: Mapping[int, Update],
        refused: Mapping[int, Refusal],
    ) -> dict[int, Failure]:
        """Say who has failed, and let rest who keeps everybody waiting.

        A site that misses deadlines in a row is asked after one round, two, four and
        so on: a slow one gets its chances, a silent one cannot stop the others.
        """
        failed = {}
        for id, task in tasks.items():
            reason = None if id in done else refused[id]
            if reason is None or reason.code != LATE:
                self._missed.pop(id, None)
            else:
                self._missed[id] += 1
                rest = min(2 ** (self._missed[id] - 1), _LONGEST_REST)
                self._rests[id] = task.round + rest
                if rest > 1:
                    told = "site %s missed %s deadlines in a row, rests until round %s"
                    logger.warning(told, id, self._missed[id], task.round + rest + 1)
            if reason is not None and reason.code not in _BLAMELESS:
                failed[id] = Failure(id, reason.code, reason.reason)
        return failed

    def _encoded(self, task: Task) -> RecordDict:
        after = self._after.get(task.client, 0)
        sites = len(self._roster.infos())
        return encode_order(Order(task, self._stage, after, sites))


def address_of(letter: Task | Update) -> tuple[int, int, int]:
    """Return what an answer and the task that it answers have in common."""
    return letter.client, letter.round, letter.group
