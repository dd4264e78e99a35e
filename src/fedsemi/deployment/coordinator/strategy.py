"""A method as a Flower Strategy, for a project that already has a ServerApp.

    strategy = MethodStrategy(blueprint, stage=1)
    result = strategy.start(grid, strategy.initial_arrays(), num_rounds=20)

Flower's own loop has no deadline that closes a round, no quorum and no resume, and it
sends all messages of a round at once; `fedsemi server` has all of these. Each phase of
a method counts as one of Flower's rounds: CBAFed needs one more than its rounds, and a
masked round is eight.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from fedsemi.client.wire import declared_by
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import Experiment
from fedsemi.deployment.codec import Order, decode_update, encode_order
from fedsemi.deployment.coordinator.engine import address_of
from fedsemi.deployment.coordinator.post import (
    BROKEN_OFF,
    OTHER_TASK,
    SPARE_BYTES,
    Refusal,
    logger,
    read,
)
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import Answer, Failure, Task, Update
from fedsemi.runs.records import Notice
from fedsemi.seeds import seed_of
from fedsemi.server.gates import gate_of
from fedsemi.server.members import with_members
from fedsemi.server.rounds import Round, one_round
from fedsemi.weights import num_bytes

Asking = Generator[Sequence[Task], Sequence[Answer], Round[Any]]


class MethodStrategy(Strategy):
    """Runs one stage of a blueprint under `Strategy.start`."""

    def __init__(self, blueprint: Blueprint, stage: int, num_sites: int = 1) -> None:
        self._blueprint = blueprint
        self._number = stage
        self._stage = blueprint.experiment.stages[stage]
        self._method = blueprint.method(self._stage)
        self._gate = gate_of(blueprint, self._method)
        _check_kept(blueprint.experiment)
        self._num_sites = num_sites
        self._roster: Roster | None = None
        self._state: Any = None
        self._changes: tuple[Notice, ...] = ()
        """Who came and went before the round that is under way."""
        self._round: Asking | None = None
        """The round that is under way."""
        self._tasks: Sequence[Task] = ()
        self._asked: dict[int, Task] = {}
        """The task of each node that was asked."""
        self._after: dict[int, int] = {}
        self.done: Round[Any] | None = None
        """What the last whole round left behind: drops, notices, shares, state."""

    def initial_arrays(self) -> ArrayRecord:
        """Return the weights that the blueprint begins with."""
        return ArrayRecord(dict(self._blueprint.initial_weights()))

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Turn the method's plan into messages."""
        # One for all rounds: it asks each node only once who it is.
        roster = self._roster = self._roster or Roster(grid, self._blueprint)
        roster.wait_for(self._num_sites, seconds=600)
        online = roster.online()
        if self._round is None:
            self._begin_round(arrays, roster)
        if len({task.client for task in self._tasks}) < len(self._tasks):
            raise ProtocolError(
                f"'{self._stage.method}' asks a client twice in a round, which Flower "
                "would do at the same time; run it with `fedsemi server`",
                code="FS2114",
            )
        self._asked = {
            online[task.client]: task for task in self._tasks if task.client in online
        }
        return [
            Message(encode_order(self._order(task)), node, "train")
            for node, task in self._asked.items()
        ]

    def _begin_round(self, arrays: ArrayRecord, roster: Roster) -> None:
        if self._state is None:
            seed = seed_of(self._blueprint.experiment.seed, "stage", self._number)
            weights = arrays.to_torch_state_dict()
            self._state = self._method.init(weights, roster.infos(), seed)
        state, self._changes = with_members(
            self._state, roster.infos(), roster.absent()
        )
        self._round = one_round(self._method, state, self._gate)
        self._tasks = next(self._round)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Let the round go on with the replies; its phases are Flower's rounds."""
        assert self._round is not None, "Flower configures a round before it ends"
        answers = [answer for reply in replies for answer in self._read(reply)]
        try:
            self._tasks = self._round.send(answers)
        except StopIteration as over:
            self._end_round(over.value)
        shares = self._state.contributions.items()
        numbers = {f"contribution-{id}": share for id, share in shares}
        return ArrayRecord(dict(self._state.weights)), MetricRecord(dict(numbers))

    def _end_round(self, done: Round[Any]) -> None:
        done = replace(done, changes=self._changes)
        self.done, self._state, self._round = done, done.state, None
        for notice in (*done.dropped, *done.notices):
            logger.warning("%s", notice)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask nothing: the model is tested on the server."""
        return []

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Return nothing, for nothing was asked."""
        return None

    def summary(self) -> None:
        """Log what runs."""
        logger.info("stage %s: %s", self._number, self._stage.method)

    def _order(self, task: Task) -> Order:
        after, sites = self._after.get(task.client, 0), len(self._state.clients)
        return Order(task, self._number, after, sites)

    def _read(self, reply: Message) -> list[Answer]:
        """Read a reply as that of the site which was asked, whatever it says."""
        task = self._asked.get(reply.metadata.src_node_id)
        if task is None or self._roster is None:
            return []
        limit = num_bytes(self._state.whole) + SPARE_BYTES
        declared = declared_by(self._method, self._blueprint.model.num_classes)
        decode = partial(decode_update, limit=limit, declared=declared)
        found = read(lambda: reply, decode)
        if isinstance(found, Update) and address_of(found) == address_of(task):
            if task.weights:  # a step without a model leaves no memory
                self._after[task.client] = task.seed
            return [found]
        reason = found if isinstance(found, Refusal) else OTHER_TASK
        logger.warning("site %s: %s", task.client, reason)
        if reason.code == BROKEN_OFF and task.client not in self._roster.online():
            return []  # it went away in the middle, which is nobody's fault
        return [Failure(task.client, reason.code, reason.reason)]


def _check_kept(experiment: Experiment) -> None:
    """Refuse what a run keeps from round to round, where there is no such run."""
    privacy = experiment.privacy
    # A budget needs one of the two, see `check_noise`.
    if privacy.noise_multiplier or privacy.statistics_noise:
        raise ConfigError(
            "under Flower's own loop nobody adds noise to the mean, keeps the account "
            "of any noise or stops at privacy.budget_epsilon; use `fedsemi server`, or "
            "privacy.noise_multiplier = 0 and privacy.statistics_noise = 0",
            code="FS6110",
        )
    if experiment.alarms.action != "warn":
        raise ConfigError(
            "under Flower's own loop nobody has held-out images to try a mean on, so "
            "that alarms.action must be 'warn'",
            code="FS4111",
        )
    if experiment.evaluation.delivers != "global":
        raise ConfigError(
            "Flower's own loop keeps no running mean; use `fedsemi server`, or leave "
            "evaluation.delivers out",
            code="FS4105",
        )
