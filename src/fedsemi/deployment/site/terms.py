"""The terms of a plan that a site agrees to, and how a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.plugged import plugins_of


def terms_of(blueprint: Blueprint) -> dict[str, Any]:
    """Write down what an agreement to a plan covers."""
    stages, privacy = list[dict[str, Any]](), blueprint.experiment.privacy
    grouped = {"group_sites": privacy.least_sites} if privacy.groups > 1 else {}
    for stage in blueprint.experiment.stages:
        local = blueprint.experiment.local_of(stage)
        method = blueprint.method(stage)
        terms = {
            "method": stage.method,
            "rounds": stage.rounds,
            "epochs": local.epochs,
            "batch_size": local.batch_size,
            "statistics": list(method.statistics),
        }
        masked = {"masked": True, **grouped}
        stages.append(terms if method.sends_model else {**terms, **masked})
    agreed = {"plan_sha256": blueprint.sha256, "stages": stages}
    plugins = plugins_of(blueprint.experiment)
    return agreed | ({"plugins": plugins} if plugins else {})


def described(terms: Mapping[str, Any]) -> str:
    """Say in one line what was agreed to."""
    stages = [
        f"{_many(stage['rounds'], 'round')} of {stage['method']} "
        f"({_many(stage['epochs'], 'epoch')} in batches of {stage['batch_size']}, "
        f"sends {_sent(stage)})"
        for stage in terms["stages"]
    ]
    plugins = [
        f"; with code of its own: {each['kind']} {name} {each['distribution']} "
        f"{each['version']} (source {each['sha256'][:12]})"
        for name, each in terms.get("plugins", {}).items()
    ]
    return f"plan {terms['plan_sha256'][:12]}: {'; '.join(stages)}{''.join(plugins)}"


def _sent(stage: Mapping[str, Any]) -> str:
    """Say what leaves the site in a stage."""
    if stage.get("masked"):
        least = stage.get("group_sites")
        among = f", some of {least} sites" if least else ""
        return f"its parts of masked sums alone{among}"
    return ", ".join(["the model", "counts", *stage["statistics"]])


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
