"""In which numbers an encoder computes; weights are float32 always."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Literal

import torch

from fedsemi.errors import ConfigError

Precision = Literal["float32", "bf16"]

FORCE = "FEDSEMI_FORCE_BF16"
"""Set to 1 to compute in bf16 where the processor only emulates it."""


def computing(precision: Precision, device: str) -> AbstractContextManager[object]:
    """Compute in this precision meanwhile; what must be exact stays float32."""
    if precision == "float32":
        return nullcontext()
    # Without the cache of cast weights: a weight that changed in place between two
    # passes without gradients would not be noticed.
    return torch.autocast(device, torch.bfloat16, cache_enabled=False)


@cache
def check_precision(precision: Precision, device: str) -> None:
    """Refuse bf16 where it would be emulated, which is slow, or end the process.

    Raises:
        ConfigError: The device has no bf16 and nobody insists, or it is broken.
    """
    if precision == "float32":
        return
    if not has_bf16(device) and os.environ.get(FORCE) != "1":
        raise ConfigError(
            f"precision = 'bf16', but {device} here would only emulate it, slowly; use "
            f"'float32', or set {FORCE}=1 to compute so all the same",
            code="FS4151",
        )
    if device == "cpu" and _capable("amx_bf16") and not survives():
        raise ConfigError(
            "precision = 'bf16', but a step of training in bf16 kills the process: "
            "this machine announces AMX instructions that it does not carry out; use "
            "'float32', or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 to do without them",
            code="FS4152",
        )


def has_bf16(device: str) -> bool:
    """Tell whether a device computes bf16 in hardware."""
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device == "cpu":
        return any(map(_capable, ("avx512_bf16", "amx_bf16", "arm_bf16")))
    return True  # nothing is known of others; torch refuses what it cannot do


def survives(step: str = "") -> bool:
    """Tell whether a process lives through one step of training in bf16.

    Some virtual machines announce matrix tiles and then answer them with an illegal
    instruction, which no exception can catch; hence a process of its own.
    """
    command = [sys.executable, "-c", step or _STEP]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


_STEP = """
import torch
from fedsemi.models import ModelSpec
torch.set_num_threads(1)
model = ModelSpec("resnet8", 10).build(0).to(memory_format=torch.channels_last)
model.precision = "bf16"
for side in (16, 32):
    model(torch.zeros(32, 3, side, side)).logits.sum().backward()
"""


def _capable(name: str) -> bool:
    return bool(torch.cpu.get_capabilities().get(name))
