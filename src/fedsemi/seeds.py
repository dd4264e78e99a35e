"""Random streams: every one is a hash of what it is for, so none has a history.

Order, number of workers, drop-outs and restarts cannot shift a stream that is named
by (run, stage, round, client, ...) and not by how many numbers were drawn before.
"""

from __future__ import annotations

import hashlib

import torch


def seed_of(*parts: int | str) -> int:
    """Hash the parts to a seed of 63 bits.

    >>> seed_of(1, "stage", 0) == seed_of(1, "stage", 0) != seed_of(1, "stage", 1)
    True
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Streams:
    """The named random generators of one task.

    >>> streams = Streams(7)
    >>> streams["shuffle"] is streams["shuffle"]
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[str, torch.Generator] = {}

    def __getitem__(self, name: str) -> torch.Generator:
        if name not in self._made:
            generator = torch.Generator()
            generator.manual_seed(seed_of(self._seed, name))
            self._made[name] = generator
        return self._made[name]
