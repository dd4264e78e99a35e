"""LD-2: the server's memory does not grow with the number of clients."""

from __future__ import annotations

import os
import resource
import traceback
from typing import Any

import pytest
import torch

from fedsemi.contributions import by_supervision
from fedsemi.engines.mailbox import Mailbox
from fedsemi.messages import ClientInfo, Task, Update
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.state import GateState, ServerState

CLIENTS = 1000
MODEL = 1 << 20
ALLOWED = 4 * MODEL + 50 * 10**6
"""A list of all replies would need 1 GB."""


INFOS = [ClientInfo(id, 10 * (id < 10), 20) for id in range(CLIENTS)]


def global_weights() -> dict[str, torch.Tensor]:
    make = torch.Generator().manual_seed(0)
    return {"w": torch.randn(MODEL // 4, generator=make)}


def answer_all(mailbox: Mailbox) -> None:
    """Put the replies of a thousand clients on disk."""
    make = torch.Generator().manual_seed(1)
    weights = global_weights()
    for info in INFOS:
        noise = 0.01 * torch.randn(MODEL // 4, generator=make)
        mailbox.put(f"reply-{info.id}", {"w": weights["w"] + noise})


def one_round(mailbox: Mailbox) -> None:
    """Let the replies pass the gate and be averaged; fail if that takes memory."""
    before, weights = peak(), global_weights()
    tasks = [Task(info.id, 0, weights) for info in INFOS]
    updates = [
        Update(i.id, 0, mailbox.get(f"reply-{i.id}"), i.num_labeled, 20, 10)
        for i in INFOS
    ]
    used = Gate(Guard(enabled=True)).check(tasks, updates, INFOS, GateState()).updates
    mean = ServerState(weights, tuple(INFOS)).mixed(used, by_supervision(used))
    assert len(used) == CLIENTS and mean["w"].isfinite().all()
    grown = peak() - before
    assert grown <= ALLOWED, f"{grown / 1e6:.0f} MB more"


def peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def in_a_process(work: Any, mailbox: Mailbox) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work(mailbox)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.slow
def test_a_thousand_replies_need_the_memory_of_a_few(
    promise: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mailbox = Mailbox(tmp_path_factory.mktemp("spool"))
    assert in_a_process(answer_all, mailbox) == 0
    failed = in_a_process(one_round, mailbox)
    mailbox.destroy()
    promise("LD-2 clients in one round, four models + 50 MB", CLIENTS, failed)
    assert failed == 0
