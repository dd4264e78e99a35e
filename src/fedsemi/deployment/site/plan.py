"""Reading a plan at a site: no code is loaded for it that the owner has not named."""

from __future__ import annotations

import logging
from collections.abc import Collection

from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.deployment.site.policy import Policy
from fedsemi.errors import ConfigError, ProtocolError
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
            return read_blueprint(text)
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
