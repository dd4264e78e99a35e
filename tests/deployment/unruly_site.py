"""A site that misbehaves after its own checks; started in place of `warm_node`.

python unruly_site.py spoil|hang|die HOME SERVER …
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace

import torch

from fedsemi.deployment.codec import Order
from fedsemi.deployment.site.desk import Desk
from fedsemi.deployment.site.warm_node import main
from fedsemi.messages import Update

_GIANT = 10_000_000
_honest = Desk.carry_out


def spoil(desk: Desk, order: Order) -> Update:
    """In the second stage send NaN at first, then far too much, then honest answers."""
    update = _honest(desk, order)
    if order.stage == 1 and order.task.round == 0:
        spoiled = {name: value * torch.nan for name, value in update.weights.items()}
        same = {n: value.to(update.weights[n].dtype) for n, value in spoiled.items()}
        return replace(update, weights=same)
    if order.stage == 1 and order.task.round == 1:
        giant = {"giant": torch.zeros(_GIANT)}
        return replace(update, weights={**update.weights, **giant})
    return update


def hang(desk: Desk, order: Order) -> Update:
    """Hang in the second round of the second stage, when there is a memory to lose."""
    if order.stage == 1 and order.task.round == 1:
        print("hangs now", flush=True)
        time.sleep(3600)
    return _honest(desk, order)


def die(desk: Desk, order: Order) -> Update:
    """Let the process that trains be killed, as for want of memory."""
    if order.stage == 1:
        print("dies now", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return _honest(desk, order)


if __name__ == "__main__":
    Desk.carry_out = globals()[sys.argv[1]]  # type: ignore[method-assign]
    sys.exit(main(sys.argv[2:]))
