"""[privacy]: what the server may see of a single site."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import Field, with_config

from fedsemi.config.protection import AlarmSettings, GuardSettings
from fedsemi.errors import ConfigError
from fedsemi.messages import DIVERSITY
from fedsemi.method import Method
from fedsemi.privacy.rules import Rules
from fedsemi.seeds import seed_of
from fedsemi.settings import STRICT, NotNegative, Positive

_SEES_CLAIMS = ("cap", "spread")
_SEES_STEPS = ("norm_limit", "few_limit", "jump_limit")
"""What the guard does with single sites' claims and steps, which masks hide from it."""


@with_config(STRICT)
@dataclass(frozen=True)
class PrivacySettings:
    """[privacy]: what the server may see of a single site."""

    masked: bool = False
    """Let the server see sums alone: no site's model, share or statistics.

    Sites mask what they send; the masks cancel in the sum over all of them.
    """
    least_sites: Annotated[int, Field(ge=3)] = 3
    """Fewest sites that a sum is made of; a site refuses to answer among fewer."""
    groups: Annotated[int, Field(ge=1)] = 1
    """Most groups of `least_sites` or more in which masked steps are summed.

    The guard compares their mean steps as it does those of single sites without masks;
    three are needed for one to stand out. The server then sees the sum of each group,
    which tells more of a site than that of all.
    """
    threshold: Annotated[float, Field(ge=0.5, lt=1)] = 2 / 3
    """More than this part of the sites must help to take the masks off a sum.

    So many may also be lost in the middle as are beyond it. Of n sites with m that must
    help, 2m - n that conspire with the coordinator are enough to see a single site's
    part: four of ten at 2/3, two of ten at 1/2.
    """
    clip: Annotated[float, Field(gt=0, lt=128)] = 100.0
    """Longest step of a site, which the site itself keeps to: masked numbers lie
    between -128 and 128, and nobody else can shorten a step that is masked."""
    plain_warm_up: bool = False
    """Leave stages that learn from labels alone unmasked, e.g. where one site has all
    labels: the sum over one site is that site's model, whatever hides it."""
    noise_multiplier: NotNegative = 0.0
    """Gaussian noise on the sum of all sites' steps, in units of `clip`; 0 for none.

    It bounds what the models of a run tell of any one site, see
    docs/privacy-budget.md. Each site's share of its step is then shortened to `clip`.
    """
    statistics_noise: NotNegative = 0.0
    """Noise that a site adds to its statistics, in units of `statistics_clip`. Alone it
    is cheap, and promises something of the statistics only."""
    statistics_clip: Positive = 1.0
    """Longest vector of statistics of a site, as far as noise is added."""
    budget_epsilon: Positive | None = None
    """The run stops before the round with which ε would be larger."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-5
    """The δ at which ε is told; below one over the number of sites to mean anything."""


def check_noise(
    privacy: PrivacySettings, guard: GuardSettings, alarms: AlarmSettings
) -> None:
    """Refuse what noise does not go with, and a budget that nothing keeps."""
    noise = privacy.noise_multiplier or privacy.statistics_noise
    if privacy.budget_epsilon is not None and not noise:
        raise ConfigError(
            "privacy.budget_epsilon needs noise; set privacy.noise_multiplier, or "
            "privacy.statistics_noise for the statistics alone",
            code="FS6110",
        )
    if not privacy.noise_multiplier:
        return
    if guard.enabled or alarms.action != "warn":
        raise ConfigError(
            "with privacy.noise_multiplier nothing may look at single sites, or take a "
            "model back for what they held out: set guard.enabled = false and "
            "alarms.action = 'warn'",
            code="FS6110",
        )


def _check_groups(privacy: PrivacySettings) -> None:
    """Refuse groups where nothing is masked, or where each would need all the noise."""
    if privacy.groups == 1:
        return
    if not privacy.masked:
        raise ConfigError(
            "privacy.groups is for masked sums; set privacy.masked = true, or leave it "
            "out: without masks the guard compares single sites",
            code="FS6020",
        )
    if privacy.noise_multiplier:
        raise ConfigError(
            "privacy.groups does not go with privacy.noise_multiplier: each group's "
            "sum would need the noise of the whole one, and its share has none; leave "
            "one of them out",
            code="FS6020",
        )


def check_statistics(privacy: PrivacySettings, method: Method[Any]) -> None:
    """Refuse a method whose statistics have no noise where they need some."""
    sent = sorted(method.statistics)
    if privacy.noise_multiplier and sent and not privacy.statistics_noise:
        raise ConfigError(
            f"{method.name} makes shares of {', '.join(sent)}, which tells of a site "
            "through the others' shares; set privacy.statistics_noise, too",
            code="FS6111",
        )
    if privacy.statistics_noise and set(sent) - {DIVERSITY}:
        raise ConfigError(
            f"privacy.statistics_noise is for {DIVERSITY}, and {method.name} sends "
            f"{', '.join(sent)}; take another method, or leave it out",
            code="FS6111",
        )


def check_privacy(
    privacy: PrivacySettings, guard: GuardSettings, alarms: AlarmSettings
) -> None:
    """Refuse what needs to see single sites where nobody does."""
    _check_groups(privacy)
    if not privacy.masked:
        return
    usual = {field.name: field.default for field in fields(guard)}
    # In groups there are steps to bound, if not those of single sites.
    hidden = _SEES_CLAIMS + (() if privacy.groups > 1 else _SEES_STEPS)
    changed = [name for name in hidden if getattr(guard, name) != usual[name]]
    if changed:
        raise ConfigError(
            f"guard.{changed[0]} bounds single sites, which privacy.masked hides from "
            "the server; leave it out: privacy.clip bounds steps at the sites, and "
            "held-out labels still judge the sum",
            code="FS6001",
        )
    if alarms.action == "lower-share":
        raise ConfigError(
            "alarms.action = 'lower-share' takes the mean again with other shares, "
            "which a masked sum does not allow; set it to 'warn' or 'roll-back'",
            code="FS6001",
        )


def said_of(privacy: PrivacySettings, guard: GuardSettings) -> str:
    """Say at a run's start what masks hide from whom, and what that costs."""
    judged = (
        "held-out labels still judge the sum"
        if guard.enabled
        else "nothing judges the sum ([guard] enabled is false)"
    )
    return (
        f"masked: the server sees sums over {privacy.least_sites} sites or more, no "
        "site's model, share or statistics; so the guard cannot bound single sites, "
        f"each keeps its own step within privacy.clip = {privacy.clip:g}, "
        f"{_said_of_groups(privacy, guard)}and {judged}"
    )


def _said_of_groups(privacy: PrivacySettings, guard: GuardSettings) -> str:
    if privacy.groups == 1:
        return ""
    groups = f"{privacy.groups} groups of {privacy.least_sites} sites or more"
    if guard.enabled:
        return f"the steps of {groups} are compared with each other, "
    return f"nothing compares {groups} ([guard] enabled is false), "


def rules_of(privacy: PrivacySettings, seed: int = 0) -> Rules:
    """Return how many sites the sums of a plan need, and how these are dealt."""
    return Rules(privacy.least_sites, privacy.threshold, privacy.groups, seed)


def masked(
    method: Method[Any],
    privacy: PrivacySettings,
    plan: str,
    seed: int,
    secret: bytes = b"",
) -> Method[Any]:
    """Return a method that sees sums alone.

    Args:
        method: Whose mean is to be a sum.
        privacy: How it is masked.
        plan: Names what all sites have agreed to.
        seed: Of the run, from which groups are dealt.
        secret: What a site's noise is made from.
    """
    try:
        from fedsemi.privacy.at_site import Terms
        from fedsemi.privacy.masked import Masked
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "cryptography":
            raise
        raise ConfigError(
            "privacy.masked needs the package cryptography; install it with: pip "
            "install 'fedsemi[private]'",
            code="FS6012",
        ) from None
    context, noise = f"{plan} {method.name}", privacy.noise_multiplier
    rules = rules_of(privacy, seed_of(seed, "groups", method.name))
    terms = Terms(context, rules, privacy.clip, noise=noise, secret=secret)
    return Masked(method, terms)
