"""The steps of a masked round, and letters as tensors, which is how they travel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from fedsemi.method import Statistic
from fedsemi.privacy.fixed_point import Integers
from fedsemi.privacy.letters import (
    Advert,
    Claimed,
    Consent,
    Envelopes,
    Letter,
    Opened,
)
from fedsemi.privacy.parameters import BITS, Phase

L = TypeVar("L", bound=Letter)

LETTER = "letter"
"""What a letter is called in a task."""
MOST_BYTES = 2_000_000
"""Of an answer that is a letter: a thousand sites' shares in hexadecimal."""

MOST_NUMBERS = 2**30
"""Of a model; how many there are is checked when they are added up."""


@dataclass(frozen=True)
class Step:
    """One question to the sites; its number is the group of the task."""

    name: str
    """Of the answer, among an update's statistics."""
    answer: type[Letter] | None = None
    """What a site answers; None for the masked numbers of the model."""
    phase: Phase = "claims"


STEPS = (
    Step("keys", Advert),
    Step("shares", Envelopes),
    Step("claims", Claimed),
    Step("claims_set", Consent),
    Step("claims_opened", Opened),
    Step("model", None, "model"),
    Step("model_set", Consent, "model"),
    Step("model_opened", Opened, "model"),
)

_KINDS = {32: (torch.int32, np.uint32), 64: (torch.int64, np.uint64)}


def as_tensor(letter: Letter) -> Tensor:
    """Return a letter as bytes."""
    return torch.frombuffer(bytearray(letter.written()), dtype=torch.uint8)


def read(kind: type[L], text: Tensor) -> L:
    """Read a letter."""
    return kind.read(text.numpy().tobytes())


def to_tensor(numbers: Integers) -> Tensor:
    """Return the integers of a sum as a tensor; torch has them with a sign."""
    signed = np.int32 if numbers.itemsize == 4 else np.int64
    return torch.from_numpy(numbers.view(signed))


def to_integers(tensor: Tensor, phase: Phase) -> Integers:
    """Return the integers of a sum that came as a tensor."""
    integers: Integers = tensor.contiguous().numpy().view(_KINDS[BITS[phase]][1])
    return integers


def statistics_of(num_claims: int) -> dict[str, Statistic]:
    """Declare what sites answer in all steps, given how many claims each has."""
    declared = {}
    for step in STEPS:
        if step.answer is None:
            kind = _KINDS[BITS[step.phase]][0]
            declared[step.name] = Statistic(MOST_NUMBERS, dtype=kind)
        else:
            most = 16 * num_claims + 4000 if step.answer is Claimed else MOST_BYTES
            reads = _reader(step.answer)
            declared[step.name] = Statistic(most, dtype=torch.uint8, reads=reads)
    return declared


def _reader(kind: type[Letter]) -> Callable[[Tensor], Letter]:
    return lambda text: read(kind, text)
