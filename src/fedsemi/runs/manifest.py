"""What made a run: enough to run it again, and to tell whether one may go on."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import torch

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.plugged import plugins_of
from fedsemi.errors import Mismatch
from fedsemi.runs.checkpoint import Cursor

_SOFTWARE = ("fedsemi_sha256", "threads_per_worker", "torch", "cpu", "seed_scheme")
_DELIVERS = "config.evaluation.delivers"
SEED_SCHEME = 1
"""Of seeds.seed_of: a change of how streams are named raises it."""


def manifest(blueprint: Blueprint) -> dict[str, Any]:
    """Describe what made the run: seeds, versions, machine, hashes."""
    return identity(blueprint) | {
        "config_sha256": blueprint.experiment.sha256,
        "num_images": blueprint.num_images(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "git": _git(Path(__file__).parents[1]),
        "environment": {
            k: v
            for k, v in os.environ.items()
            if k.startswith(("OMP_", "MKL_", "ONEDNN_"))
        },
        "command": sys.argv,
        "packages": _packages(),
    }


def identity(blueprint: Blueprint) -> dict[str, Any]:
    """Return what decides the bits of a result, beside the settings."""
    experiment = blueprint.experiment
    methods = [blueprint.method(stage) for stage in experiment.stages]
    return {
        "seed": experiment.seed,
        "seed_scheme": SEED_SCHEME,
        **blueprint.provenance(),
        "anchor_sha256": [m.anchor_sha256 or None for m in methods],
        **_encoder(blueprint),
        "fedsemi_sha256": _source_sha256(),
        "plugins": plugins_of(experiment, with_data=True),
        "threads_per_worker": 1,
        "torch": str(torch.__version__),
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }


def software() -> dict[str, Any]:
    """Name what a record was made with: versions, source, commit and kind of CPU.

    Records live longer than the folders of their runs, and bits than version numbers.
    """
    git = _git(Path(__file__).parents[1])
    return {
        "fedsemi": version("fedsemi"),
        "torch": str(torch.__version__),
        "fedsemi_sha256": _source_sha256(),
        "commit": git and git["commit"] + (" with changes" if git["dirty"] else ""),
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }


def _encoder(blueprint: Blueprint) -> dict[str, str]:
    """Name a pretrained encoder by its file; nothing for a network without one."""
    sha256 = blueprint.model.encoder_sha256
    return {"encoder_sha256": sha256} if sha256 else {}


def checkpoint_identity(blueprint: Blueprint) -> dict[str, Any]:
    """Return what a checkpoint records of the run that it belongs to."""
    config = blueprint.experiment.model_dump(mode="json")
    return identity(blueprint) | {"config": config}


def check_same_run(
    recorded: Mapping[str, Any], now: Mapping[str, Any], cursor: Cursor
) -> None:
    """Refuse to go on if a setting, the data or the software is another one.

    Allowed is only what cannot change a round that is done: more rounds for the stage
    that is on or for a later one.
    """
    old, new = _flat(recorded), _flat(now)
    refused = [
        key for key in _changed(old, new) if not _is_allowed(key, old, new, cursor)
    ]
    if not refused:
        return
    told = _difference(refused, old, new)
    if all(key in _SOFTWARE or key.startswith("plugins.") for key in refused):
        raise Mismatch(
            f"cannot resume: {told}; the bits of a result hold for one version of "
            "fedsemi, torch and plug-ins and one kind of CPU, go back to it or use "
            "--fork",
            code="FS1302",
        )
    fork = "start a new run" if _bound(refused, cursor) else "go on with --fork"
    raise Mismatch(
        f"cannot resume: {told}; take the change back, or {fork}", code="FS1301"
    )


def check_forkable(
    recorded: Mapping[str, Any], now: Mapping[str, Any], cursor: Cursor
) -> None:
    """Refuse to begin at a checkpoint whose model, clients or method do not fit."""
    old, new = _flat(recorded), _flat(now)
    old.setdefault(_DELIVERS, "global")  # before there was another
    refused = _bound(_changed(old, new), cursor)
    if refused:
        raise Mismatch(
            f"cannot fork: {_difference(refused, old, new)}; data, clients, model, "
            "the methods so far and what is delivered must stay",
            code="FS1303",
        )


def _bound(changed: Sequence[str], cursor: Cursor) -> list[str]:
    """Return what of a change no checkpoint can be taken over."""
    methods = tuple(f"config.stages.{i}.method" for i in range(cursor.stage + 1))
    bound = ("data_", "partition_", "encoder_", "config.model.", _DELIVERS, *methods)
    return [key for key in changed if key.startswith(bound)]


def _is_allowed(
    key: str, old: Mapping[str, Any], new: Mapping[str, Any], cursor: Cursor
) -> bool:
    parts = key.split(".")
    if parts[:2] != ["config", "stages"] or parts[3:] != ["rounds"]:
        return False
    if key not in old or key not in new or int(parts[2]) < cursor.stage:
        return False
    done = cursor.round if int(parts[2]) == cursor.stage else 0
    return bool(new[key] >= max(old[key], done))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    names = sorted(old.keys() | new.keys())
    return [name for name in names if old.get(name) != new.get(name)]


def _difference(
    names: Sequence[str], old: Mapping[str, Any], new: Mapping[str, Any]
) -> str:
    return ", ".join(
        f"{name.removeprefix('config.')} {_shown(old.get(name))} → "
        f"{_shown(new.get(name))}"
        for name in names
    )


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Name each leaf of nested mappings and lists by its path."""
    items: Sequence[tuple[Any, Any]]
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return {prefix: value}
    result: dict[str, Any] = {}
    for key, inner in items:
        result |= _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    return result


def _shown(value: Any) -> str:
    text = str(value)
    if isinstance(value, float) and len(text) > 10:
        return f"{value:.4g}"
    return f"{text[:12]}…" if len(text) > 40 else text


@cache
def _source_sha256() -> str:
    """Name the code that runs, also where a version number stays the same."""
    package, sha = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        sha.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return sha.hexdigest()


@cache
def _packages() -> list[str]:
    return sorted(f"{each.name}=={each.version}" for each in distributions())


@cache
def _git(folder: Path) -> dict[str, Any] | None:
    """Return commit and state of the checkout that the package lies in, if it does."""
    command = ["git", "-C", str(folder)]
    try:
        # An installed package may lie inside a checkout of something else.
        _output([*command, "ls-files", "--error-unmatch", "__init__.py"])
        commit = _output([*command, "rev-parse", "HEAD"])
        dirty = bool(_output([*command, "status", "--porcelain", "."]))
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": dirty}


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=10
    )
    return done.stdout.strip()
