"""Workers and made-up GPUs."""

from __future__ import annotations

from fedsemi.engines.devices import deal


class Gpus:
    """So many GPUs; remembers which one was taken."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.taken: int | None = None

    def device_count(self) -> int:
        return self.count

    def set_device(self, number: int) -> None:
        self.taken = number


def taken(device: str, worker: int, count: int) -> int | None:
    gpus = Gpus(count)
    deal(device, worker, gpus)
    return gpus.taken


def test_workers_are_dealt_over_all_gpus_in_turn() -> None:
    assert [taken("cuda", worker, 3) for worker in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_a_gpu_that_is_named_is_everybodys() -> None:
    assert [taken("cuda:1", worker, 3) for worker in range(3)] == [None] * 3


def test_nothing_happens_without_a_gpu() -> None:
    assert taken("cpu", 1, 3) is taken("cuda", 1, 0) is None
