"""A site at work: introduces itself, carries out orders, remembers, checks its mail."""

from __future__ import annotations

from dataclasses import dataclass

from fedsemi.client.findings import with_findings
from fedsemi.client.wire import check_declared
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.dataset import ImageSet
from fedsemi.data.site import Site
from fedsemi.deployment.codec import Introduction, Order
from fedsemi.deployment.introduction import introduction_of
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.deployment.site.sum_desk import SumDesk, with_sums
from fedsemi.engines.in_process import one_thread, train_client
from fedsemi.errors import ProtocolError
from fedsemi.messages import Update

_ROUNDS_KEPT = 2


@dataclass(frozen=True, eq=False)
class Desk:
    """Everything that one site works with."""

    blueprint: Blueprint
    site: Site
    memory: MemoryStore
    device: str | None = None
    """Where this site computes; as the plan says if left out."""
    agreement: Agreement | None = None
    """What a real site has agreed to; a simulated one has nobody to agree with."""
    sums: SumDesk | None = None
    """What it needs for masked sums."""

    def introduction(self) -> Introduction:
        """Say who this is and what it would train."""
        info = self.site.client.info
        self.blueprint.model.located()  # the encoder that the plan means lies here
        policy = self.agreement.policy.sha256 if self.agreement else ""
        return introduction_of(self.blueprint, info, self.site.class_names, policy)

    def carry_out(self, order: Order) -> Update:
        """Train, remember, and check that the answer holds nothing undeclared."""
        task, client = order.task, self.site.client
        if task.client != client.id:
            raise ProtocolError(
                f"a task for client {task.client} came to client {client.id}",
                code="FS2106",
            )
        if self.agreement is not None:
            self.agreement.admit(order)
        blueprint = self.blueprint.on(self.device) if self.device else self.blueprint
        stage = blueprint.experiment.stages[order.stage]
        method = blueprint.method(stage)
        memory = self.memory.get(order.stage, order.after)
        if self.agreement is not None:
            self.agreement.count(order, memory, blueprint.experiment.device)
            self.agreement.check_model(order)
        with one_thread(), with_sums(self.sums, method, order.stage) as method:
            update, memory = train_client(method, task, client, memory)
            setup = blueprint.setup(stage)
            update = with_findings(update, self._held_out, setup, task)
        check_declared(method, task, update, setup.model.num_classes)
        if not task.weights:  # a later step of a masked round, which learns nothing
            return update
        self.memory.put(order.stage, task.round, task.seed, memory)
        oldest = task.round - _ROUNDS_KEPT
        self.memory.forget_before(order.stage, oldest, keep=order.after)
        return update

    @property
    def _held_out(self) -> ImageSet | None:
        if self.agreement is None:
            return self.site.held_out
        return self.agreement.policy.reported_on(self.site)
