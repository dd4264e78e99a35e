"""A simulated site's vault, which lies in its memory from step to step."""

from __future__ import annotations

import torch
from torch import Tensor

from fedsemi.messages import Memory
from fedsemi.privacy.letters import Letter
from fedsemi.privacy.steps import as_tensor, read
from fedsemi.privacy.vault import HeldVault, Past, Record

_RECORD, _ROUND, _PAST = "masked.record", "masked.round", "masked.past"
HELD = (_RECORD, _ROUND, _PAST)


def held_in(memory: Memory) -> HeldVault:
    """Return the vault that a memory holds; an empty one if it holds none."""
    vault = HeldVault()
    if _RECORD in memory:
        vault.write(read(Record, memory[_RECORD]))
        vault.note(int(memory[_ROUND]), read(Past, memory[_PAST]))
    return vault


def held(vault: HeldVault) -> dict[str, Tensor]:
    """Lay a vault out for a memory: the session, and what became of its round."""
    record = vault.read()
    if record is None:
        return {}
    parts: dict[str, Letter] = {_RECORD: record, _PAST: vault.past(record.round)}
    tensors = {name: as_tensor(part) for name, part in parts.items()}
    return {**tensors, _ROUND: torch.tensor(record.round)}
