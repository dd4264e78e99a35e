"""Reading a plan at a site: it starts no code, and says of no file where it lies.

Code is loaded only if the owner has named it. A plan names the file of an encoder, and
the site looks for it in its folder of encoders: a path could be that of any file of the
site, and whether it is there, and is what the plan says, would show by the answer.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.deployment.site.policy import Policy
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.models.encoder_files import SCHEMES
from fedsemi.models.encoders import in_folder, is_bare
from fedsemi.plugins.registry import only
from fedsemi.text.printable import printable

logger = logging.getLogger("fedsemi.deployment.site.plan")


def read_plan(text: str | bytes, policy: Policy, agreed: Collection[str]) -> Blueprint:
    """Read a plan that may name no code but fedsemi's and what the owner allows.

    Nothing else is even imported: a module that is installed for another purpose is
    not for a coordinator to start. Of a foreign error only the type leaves the site.

    Args:
        text: The plan.
        policy: What its owner allows in all plans, or leaves to agreements.
        agreed: What its owner allows in this one.
    """
    allowed = policy.plugins(agreed)
    for name in sorted(set(agreed) - allowed):
        raise ProtocolError(
            f"this site's policy lets no plug-in '{printable(name, 100)}' run "
            f"({policy.place('answers.plugins')})",
            code="FS6101",
        )
    try:
        with only(allowed):
            return _at_home(read_blueprint(text, _check_files))
    except ConfigError as error:
        if error.code != "FS4160":
            raise
        logger.warning("%s", error)
        named = str(error.args[0]).partition(" cannot be loaded")[0]
        kind = type(error.__cause__).__name__
        raise ProtocolError(
            f"{printable(named, 100)} of the plan cannot be loaded at the site "
            f"({kind}); install it there",
            code="FS2138",
        ) from None


def _check_files(content: Mapping[str, Any]) -> None:
    """Refuse a plan that says where a file lies, before anybody looks there.

    Folders, a start and a partition are the coordinator's own, and not looked for.
    """
    weights = None
    with suppress(KeyError, TypeError):  # a plan without an encoder, or a damaged one
        weights = content["model"]["encoder"]["weights"]
    if weights is not None:
        _check_bare(weights)
    for model in (content["model"], content["experiment"]["model"]):
        scheme, colon, file = str(model["name"]).partition(":")
        if colon and scheme in SCHEMES:
            _check_bare(file)


def _check_bare(name: object) -> None:
    if not is_bare(name):
        raise ProtocolError(
            f"the plan names the file '{printable(str(name), 100)}' by a path; this "
            "site looks in its folder of encoders alone: give a name without a place",
            code="FS2139",
        )


def _at_home(blueprint: Blueprint) -> Blueprint:
    """Let the encoder be looked for where a site has such files, and nowhere else."""
    model = blueprint.model
    if model.encoder is None:
        return blueprint
    return replace(blueprint, model=replace(model, encoder=in_folder(model.encoder)))
