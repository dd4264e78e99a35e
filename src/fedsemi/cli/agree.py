"""The command with which the owner of a site agrees to a plan."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from fedsemi.data.site import read_site
from fedsemi.deployment.site.agreement import (
    Agreement,
    read_agreed,
)
from fedsemi.deployment.site.plan import read_plan
from fedsemi.deployment.site.policy import read_policy
from fedsemi.deployment.site.terms import described
from fedsemi.errors import ConfigError
from fedsemi.text.screen import say


def agree(
    folder: Annotated[Path, typer.Argument(help="The site's folder.")],
    plan: Annotated[
        Path | None, typer.Argument(help="The plan, received from a trusted hand.")
    ] = None,
    beyond_bounds: Annotated[
        bool, typer.Option(help="Agree to what the default bounds refuse.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="Let this plug-in of the plan run here; may be repeated."),
    ] = None,
) -> None:
    """Agree to a plan for the site of a folder; without a plan, show what is agreed.

    The site then answers to this plan alone, as far as its policy lets it, see `fedsemi
    site policy`. One that was never told a plan agrees to the first that a coordinator
    brings, if the policy lets it and it names no code from outside fedsemi: such a
    plug-in runs only where it is allowed by name.

    Example: fedsemi agree site-0 plan.json
    """
    if plan is None:
        read_site(folder)
        say(standing(folder))
        return
    agreement = proposed(folder, plan, allow or [])
    if beyond_bounds:
        for problem in agreement.policy.beyond(agreement.blueprint, agreement.site):
            where = agreement.policy.place(problem.rule)
            say(f"beyond the bounds: {problem.why} ({where})")
    agreement.agree("fedsemi agree", beyond_bounds)
    say(standing(folder))


def proposed(folder: Path, plan: Path, allow: Collection[str]) -> Agreement:
    """Read a plan that the owner of a site holds in hand."""
    site, policy = read_site(folder), read_policy(folder)
    try:
        return Agreement(folder, read_plan(plan.read_bytes(), policy, allow), site)
    except OSError as error:
        raise ConfigError(f"cannot read '{plan}': {error.strerror}", "FS4001") from None


def standing(folder: Path) -> str:
    """Say what a site has agreed to."""
    agreed = read_agreed(folder)
    if agreed is None:
        return (
            "agreed to no plan yet: the first one within the policy that a coordinator "
            "brings will count; `fedsemi agree` names it beforehand"
        )
    return f"agreed to {described(agreed)}"
