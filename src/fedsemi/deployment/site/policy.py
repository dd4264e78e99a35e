"""What a site answers, whoever asks: its owner's standing rules, in a file of its own.

Without the file the defaults below hold. A file that cannot be read, or that says
anything unknown, stops all answers: whoever wrote it meant something by it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.explain import explained
from fedsemi.config.files import read_config_file
from fedsemi.config.method_settings import parsed
from fedsemi.config.privacy import PrivacySettings
from fedsemi.data.dataset import ImageSet
from fedsemi.data.site import Site
from fedsemi.deployment.certificates import PEERS
from fedsemi.deployment.site.bounds import Bounds
from fedsemi.errors import ConfigError
from fedsemi.messages import STATISTICS
from fedsemi.method import innermost
from fedsemi.methods import METHODS
from fedsemi.settings import STRICT

POLICY = "site-policy.toml"
_SECTION = re.compile(r"\s*\[\s*([a-z_]+)\s*\]\s*(#.*)?")
_KEY = re.compile(r"\s*([a-z_]+)\s*=")
Finite = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Rules(BaseModel):
    model_config = ConfigDict(**STRICT, frozen=True)


class Answers(_Rules):
    """[answers]: no agreement to a plan goes beyond these."""

    methods: list[str] = Field(default_factory=lambda: sorted(METHODS.own))
    """Methods that this site takes part in."""
    statistics: list[str] = Field(default_factory=lambda: list(STATISTICS))
    """What a method may be sent beside the model and counts; [] for nothing. Left out:
    all that fedsemi's own methods send, and what an agreed plug-in declares."""
    plugins: list[str] | Literal["agreed"] = "agreed"
    """Code from outside fedsemi that may run here, as module:Name; "agreed" leaves it
    to `fedsemi agree --allow`, plan by plan."""
    masked_only: bool = False
    """Whether only sums may be seen of what this site sends; needs the keys of the
    other sites in the folder `peers`."""


class Budget(_Rules):
    """[budget]: what this site gives away in all runs together."""

    epsilon: Finite | None = None
    """Largest ε of all that was sent so far; a plan without noise is then refused. No
    limit if left out."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-5
    """The δ at which ε is told."""
    against: Literal["coordinator", "public"] = "coordinator"
    """Who must not learn more: the coordinator itself, so that noise counts only if it
    is added under masks, with the keys of the other sites in the folder `peers`; or
    those who see the model, with the coordinator trusted."""


class Rules(_Rules):
    """All that a policy says."""

    answers: Answers = Field(default_factory=Answers)
    budget: Budget = Field(default_factory=Budget)
    bounds: Bounds = Field(default_factory=Bounds)


class Refused(NamedTuple):
    """A rule that a plan breaks."""

    rule: str
    """As section.key."""
    why: str
    remedy: str = "change the plan, or let the site's owner change the line"


@dataclass(frozen=True, eq=False)
class Policy:
    """The rules of a site, and where each of them stands."""

    rules: Rules = field(default_factory=Rules)
    text: str | None = None
    """The file; None if there is none."""

    @cached_property
    def sha256(self) -> str:
        """Name the rules that are in force, whatever the file's comments say."""
        content = json.dumps(self.rules.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def place(self, rule: str) -> str:
        """Name a rule and its line, in words that may leave the site."""
        line = None if self.text is None else line_of(self.text, rule)
        stands = "a default" if line is None else f"line {line}"
        return f"{rule} in {POLICY}, {stands}"

    def plugins(self, agreed: Collection[str]) -> frozenset[str]:
        """Name the code from outside that may run, given what was agreed to."""
        named = self.rules.answers.plugins
        return frozenset(agreed if named == "agreed" else named)

    def refused(self, blueprint: Blueprint) -> Iterator[Refused]:
        """Say which rules a plan breaks for which there are no exceptions."""
        answers, privacy = self.rules.answers, blueprint.experiment.privacy
        if answers.masked_only and not privacy.masked:
            yield Refused("answers.masked_only", "privacy.masked is false")
        if answers.masked_only and privacy.plain_warm_up:
            yield Refused("answers.masked_only", "privacy.plain_warm_up is true")
        yield from self._without_noise(privacy)
        for i, stage in enumerate(blueprint.experiment.stages):
            if stage.method not in answers.methods and ":" not in stage.method:
                yield Refused("answers.methods", f"stages.{i} is of {stage.method}")

    def _without_noise(self, privacy: PrivacySettings) -> Iterator[Refused]:
        """A budget is kept by noise alone, which somebody whom it binds must add."""
        budget = self.rules.budget
        if budget.epsilon is None:
            return
        if not privacy.noise_multiplier:
            why = "privacy.noise_multiplier is 0, which no budget allows"
            yield Refused("budget.epsilon", why)
        elif budget.against == "coordinator" and not privacy.masked:
            why = "privacy.masked is false, so that its coordinator sees all"
            yield Refused("budget.against", why)
        elif budget.against == "coordinator" and privacy.plain_warm_up:
            why = "privacy.plain_warm_up is true, so that its coordinator sees models"
            yield Refused("budget.against", why)

    def refused_statistics(self, blueprint: Blueprint) -> Iterator[Refused]:
        """The same for what methods send, which are built to know it."""
        listed = "statistics" in self.rules.answers.model_fields_set
        for i, stage in enumerate(blueprint.experiment.stages):
            if stage.method not in METHODS.own and not listed:
                continue  # the site's owner has named its code, and read what it sends
            for name in innermost(blueprint.method(stage)).statistics:
                if name not in self.rules.answers.statistics:
                    why = f"stages.{i}, {stage.method}, sends {name}"
                    yield Refused("answers.statistics", why)

    def refused_among_strangers(self, folder: Path) -> Iterator[Refused]:
        """Sums hide nothing from a coordinator that may be all other sites."""
        rule = self.keeps_from_coordinator
        if rule is not None and not (folder / PEERS).is_dir():
            yield Refused(
                rule,
                f"there is no folder `{PEERS}`, so that the coordinator could pose as "
                "all other sites",
                "the site's owner makes it in the site's folder and puts the public "
                f"key of each other site there, from its owner, as {PEERS}/site-N.pub",
            )

    def reported_on(self, site: Site) -> ImageSet | None:
        """Return the held-out images of which a site says what it finds, if any.

        Such counts are under no mask and have no noise: whoever lets nothing but sums
        out, or has a budget against the coordinator, does not send them.
        """
        return None if self.keeps_from_coordinator else site.held_out

    @property
    def keeps_from_coordinator(self) -> str | None:
        """Name the rule that lets the coordinator see sums alone, if there is one."""
        if self.rules.answers.masked_only:
            return "answers.masked_only"
        budget = self.rules.budget
        bounded = budget.epsilon is not None and budget.against == "coordinator"
        return "budget.against" if bounded else None

    def beyond(self, blueprint: Blueprint, site: Site) -> Iterator[Refused]:
        """Say what of a plan is beyond the bounds, where the owner may except it."""
        for found in self.rules.bounds.outside(blueprint, site.client):
            yield Refused(f"bounds.{found.bound}", found.why)


def read_policy(folder: Path) -> Policy:
    """Read a site's policy, the default one if it has none."""
    path = folder / POLICY
    if not os.path.lexists(path):  # a link that leads nowhere is a damaged file
        return Policy()
    try:
        content = read_config_file(path)
        rules = parsed(Rules, content)
        return Policy(rules, path.read_text("utf-8-sig"))
    except ValidationError as error:
        raise damaged(explained(error, Rules, "", ()), path) from None
    except ConfigError as error:
        raise damaged(error, path) from None


def damaged(why: ConfigError, path: Path) -> ConfigError:
    """Say of a policy what is wrong with it."""
    return ConfigError(
        f"{why.args[0]}; nothing is answered until '{path}' is mended",
        code="FS6100",
    )


def line_of(text: str, rule: str) -> int | None:
    """Find the line of a file where a rule stands, counted from one.

    >>> line_of(chr(10).join(["[bounds]", "# many", "rounds = 50"]), "bounds.rounds")
    3
    """
    section, key = rule.split(".")
    here = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if title := _SECTION.fullmatch(line):
            here = title[1]
        elif here == section and (found := _KEY.match(line)) and found[1] == key:
            return number
    return None


def rule_values(rules: Rules) -> Iterator[tuple[str, Any]]:
    """List all rules as section.key with their values."""
    for section in Rules.model_fields:
        of = getattr(rules, section)
        kind = type(of)
        names = getattr(kind, "model_fields", None) or kind.__dataclass_fields__
        for name in names:
            yield f"{section}.{name}", getattr(of, name)
