"""A site at work: introduces itself, carries out orders, remembers, checks its mail."""

from __future__ import annotations

from dataclasses import dataclass

import torch

import fedsemi
from fedsemi.client.findings import with_findings
from fedsemi.client.wire import check_declared
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.site import Site
from fedsemi.deployment.codec import Introduction, Order
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.engines.in_process import one_thread, train_client
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Update
from fedsemi.text.printable import printable
from fedsemi.weights import digest

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

    def introduction(self) -> Introduction:
        """Say who this is and what it would train."""
        info = self.site.client.info
        return introduction_of(self.blueprint, info, self.site.class_names)

    def carry_out(self, order: Order) -> Update:
        """Train, remember, and check that the answer holds nothing undeclared."""
        task, client = order.task, self.site.client
        if task.client != client.id:
            raise ProtocolError(
                f"a task for client {task.client} came to client {client.id}",
                code="FS2106",
            )
        if self.agreement is not None:
            self.agreement.admit(task, order.stage, order.after)
        blueprint = self.blueprint.on(self.device) if self.device else self.blueprint
        stage = blueprint.experiment.stages[order.stage]
        method = blueprint.method(stage)
        memory = self.memory.get(order.stage, order.after)
        with one_thread():
            update, memory = train_client(method, task, client, memory)
            setup, held_out = blueprint.setup(stage), self.site.held_out
            update = with_findings(update, held_out, setup, task)
        check_declared(method, task, update, setup.model.num_classes)
        self.memory.put(order.stage, task.round, task.seed, memory)
        oldest = task.round - _ROUNDS_KEPT
        self.memory.forget_before(order.stage, oldest, keep=order.after)
        return update


def introduction_of(
    blueprint: Blueprint, info: ClientInfo, class_names: tuple[str, ...]
) -> Introduction:
    """Describe a site; the server compares with its own description."""
    stages = blueprint.experiment.stages
    anchors = [getattr(blueprint.method(s), "anchor_sha256", "") for s in stages]
    return Introduction(
        client=info.id,
        num_labeled=info.num_labeled,
        num_unlabeled=info.num_unlabeled,
        class_names=list(class_names),
        model_sha256=digest(blueprint.model.build(0).state_dict()),
        anchor_sha256=anchors,
        plan_sha256=blueprint.sha256,
        fedsemi=fedsemi.__version__,
        torch=str(torch.__version__),
    )


def check_introduction(blueprint: Blueprint, found: Introduction) -> ClientInfo:
    """Accept a site, or refuse it by name and say what differs."""
    info = ClientInfo(found.client, found.num_labeled, found.num_unlabeled)
    due = introduction_of(blueprint, info, blueprint.class_names)
    for name, remedy in (
        ("class_names", "all sites must name the same classes in the same order"),
        ("plan_sha256", "it follows another plan"),
        ("fedsemi", "install the same release everywhere"),
        ("model_sha256", "its network differs; install the same torch release"),
        ("anchor_sha256", "its anchor differs; install the same torch release"),
    ):
        here, there = getattr(due, name), getattr(found, name)
        if here != there:
            raise ProtocolError(
                f"site {found.client} is refused: its {name} is {_short(there)}, not "
                f"{_short(here)}; {remedy} (torch {_short(found.torch)} "
                f"there, {due.torch} here)",
                code="FS2115",
            )
    if min(info.id, info.num_labeled, info.num_unlabeled) < 0:
        raise ProtocolError(f"site {info.id} reports negative counts", code="FS2104")
    return info


def _short(value: object) -> str:
    return printable(str(value), 60)
