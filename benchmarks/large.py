"""What the server does in a round of a large network, beside what clients learn."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.common import (
    Federation,
    Section,
    against,
    make_clients,
    make_setup,
    worked,
)
from fedsemi.client.evaluate import TEST_BATCH, predict
from fedsemi.objectives.workbench import LocalTraining
from fedsemi.runs.checkpoint import Cursor, write_checkpoint

_CLIENTS, _IMAGES, _TESTED = (10, 100), 64, 64
_AIM = 0.10
_HEADS = (
    *("clients", "learning", "gate and mean", "checkpoint", "test"),
    *("share", "aim", ""),
)


def large(times: int) -> Section:
    """Gate, mean, checkpoint and test of ResNet-18; one round each, for it is long."""
    return Section(
        "A large network",
        "A round of FedAvg with ResNet-18 (11 M weights) at 32x32, clients of "
        f"{_IMAGES} images, batches of 32, two workers, one clean view, and a test "
        f"on {_TESTED} images. Processor seconds of all processes. The aim is for "
        "gate, mean, checkpoint and test together, of all that a round takes.",
        _HEADS,
        [_row(clients) for clients in _CLIENTS],
    )


def _row(count: int) -> list[str]:
    setup = make_setup("resnet18-cifar")
    setup = replace(setup, local=LocalTraining(batch_size=32))
    clients = make_clients(count, _IMAGES, count)
    tested = make_clients(1, _TESTED, 1)[0].labeled_images
    ours = Federation("supervised", setup, clients, 2, prepared=False, views="clean")
    with ours.engine, tempfile.TemporaryDirectory() as folder:
        learned, served = _round(ours)
        path = Path(folder) / "ckpt"
        saved = _seconds(lambda: _save(ours, path))
        megabytes = path.stat().st_size / 1e6
        model = setup.load(ours.state.weights)
        test = _seconds(
            lambda: predict(model, tested, setup.views, TEST_BATCH, "cpu", 1)
        )
    rest = served + saved + test
    return [
        f"{count}",
        f"{learned - served:.1f} s",
        f"{served:.2f} s",
        f"{saved:.2f} s, {megabytes:.0f} MB",
        f"{test:.2f} s",
        *against(rest / (learned + saved + test), _AIM, "{:.1%}"),
    ]


def _round(federation: Federation) -> tuple[float, float]:
    """Return the processor seconds of all processes, and of the server alone."""
    before, own = worked(federation.pids), time.process_time()
    federation()
    return worked(federation.pids) - before, time.process_time() - own


def _save(federation: Federation, path: Path) -> None:
    clients = [client.id for client in federation.state.clients]
    cursor = Cursor(1, 0, 1, 0, "")
    memory = federation.engine.memory
    write_checkpoint(path, cursor, {}, federation.state, clients, memory)


def _seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start
