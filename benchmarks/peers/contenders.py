"""Who is compared: what each needs, and in what it differs."""

from __future__ import annotations

from dataclasses import dataclass

NEEDED = ("torch==2.13.0", "numpy", "safetensors", "pydantic")
"""What the network of fedsemi is made of."""


@dataclass(frozen=True)
class Contender:
    """A framework, or a loop without one."""

    name: str
    module: str
    differs: str
    packages: tuple[str, ...] = ()
    """What is installed in its own environment; nothing for what is ours."""
    words: tuple[str, ...] = ()
    processes: tuple[int, ...] = (1, 2)
    most_clients: int = 1000
    left_out: str = ""
    """Why it is skipped, if it cannot be here."""


CONTENDERS = (
    Contender(
        "bare loop, our settings",
        "ours",
        "channels last, freed memory kept, one network in each process; nothing is "
        "checked, kept or written",
        words=("bare",),
    ),
    Contender(
        "plain bare loop",
        "plain",
        "the loop most people write: a copy of the network for each client",
    ),
    Contender(
        "fedsemi",
        "ours",
        "gate and mean included; channels last and kept memory are its settings",
    ),
    Contender(
        "fedsemi in bf16",
        "ours",
        'as before, with `precision = "bf16"`; all others compute in float32, and '
        "autocast is open to their users too",
        words=("bf16",),
    ),
    Contender(
        "pfl-research",
        "pfl_peer",
        "batch norm's running statistics are not averaged; metrics of each round",
        (*NEEDED, "pfl[pytorch]==0.6.0"),
    ),
    Contender(
        "Flower on Ray",
        "flower_peer",
        "models travel as records through Ray; a network is built for each task",
        (*NEEDED, "flwr[simulation]==1.41.0"),
    ),
    Contender(
        "NVFlare",
        "nvflare_peer",
        "each simulated site is a process (ten at once on the same cores) with "
        "messages of its own; ten clients only",
        (*NEEDED, "nvflare==2.9.0"),
        processes=(2,),
        most_clients=10,
    ),
    Contender(
        "FedLab",
        "fedlab_peer",
        "one process; no momentum in its trainer, so that its steps do less",
        (*NEEDED, "fedlab==1.3.0"),
        processes=(1,),
        most_clients=100,
    ),
    Contender(
        "PFLlib", "", "", left_out="it is on no package index, only in its repository"
    ),
    Contender(
        "FedJAX", "", "", left_out="its networks are JAX, and this one would be another"
    ),
)
