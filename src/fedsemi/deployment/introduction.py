"""How a site introduces itself, and what a coordinator compares it with."""

from __future__ import annotations

from importlib.metadata import version

import torch

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.plugged import plugins_of
from fedsemi.deployment.codec import MOST_TEXT, Introduction
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.text.printable import printable
from fedsemi.weights import digest


def introduction_of(
    blueprint: Blueprint,
    info: ClientInfo,
    class_names: tuple[str, ...],
    policy_sha256: str = "",
) -> Introduction:
    """Describe a site; the server compares with its own description.

    It has no say in the policy, whose hash it notes.
    """
    stages = blueprint.experiment.stages
    anchors = [blueprint.method(s).anchor_sha256 for s in stages]
    return Introduction(
        client=info.id,
        num_labeled=info.num_labeled,
        num_unlabeled=info.num_unlabeled,
        class_names=list(class_names),
        model_sha256=digest(blueprint.model.build(0).state_dict()),
        anchor_sha256=anchors,
        plan_sha256=blueprint.sha256,
        fedsemi=version("fedsemi"),
        torch=str(torch.__version__),
        plugins=_plugins(blueprint),
        policy_sha256=policy_sha256,
        encoder_sha256=blueprint.model.encoder_sha256,
    )


def check_introduction(blueprint: Blueprint, found: Introduction) -> ClientInfo:
    """Accept a site, or refuse it by name and say what differs."""
    info = ClientInfo(found.client, found.num_labeled, found.num_unlabeled)
    due = introduction_of(blueprint, info, blueprint.class_names)
    for name, remedy in (
        ("class_names", "all sites must name the same classes in the same order"),
        ("plugins", "install the same plug-ins everywhere"),
        ("plan_sha256", "it follows another plan"),
        ("fedsemi", "install the same release everywhere"),
        ("model_sha256", "its network differs; install the same torch release"),
        ("anchor_sha256", "its anchor differs; install the same torch release"),
        ("encoder_sha256", "copy the same encoder to every site"),
    ):
        here, there = getattr(due, name), getattr(found, name)
        if here != there:
            raise ProtocolError(
                f"site {found.client} is refused: its {name} is {_short(there)}, not "
                f"{_short(here)}; {remedy} (torch {_short(found.torch)} "
                f"there, {due.torch} here)",
                code="FS2115",
            )
    if min(info.id, info.num_labeled, info.num_unlabeled) < 0:
        raise ProtocolError(f"site {info.id} reports negative counts", code="FS2104")
    return info


def _plugins(blueprint: Blueprint) -> list[str]:
    """Describe each plug-in in a short text; the plan's hash has it in full."""
    return [
        f"{each['sha256'][:16]} {each['version']} {name}"[:MOST_TEXT]
        for name, each in plugins_of(blueprint.experiment).items()
    ]


def _short(value: object) -> str:
    return printable(str(value), 60)
