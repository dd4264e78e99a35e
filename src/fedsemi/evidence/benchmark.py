"""The benchmark: which methods are compared under a card, and with what.

Under a card all methods have the same images, the same clients with the same labels,
the same network, rounds and local settings, which are the profile's; each keeps the
constants of its own paper, and none was tuned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedsemi.cards import CARDS, CardName
from fedsemi.errors import ConfigError, nearest
from fedsemi.evidence.arms import ARMS, WARM_UPS, arm_of
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.layout import BOUNDS
from fedsemi.evidence.profiles import Profile
from fedsemi.methods import METHODS

DEFAULTS: dict[CardName, tuple[str, ...]] = {
    "LC": ("lower", "uniform", "fedavg-semi", "semianagg", "cbafed", "sage", "feddb"),
    "LPC": ("lower", "uniform", "semianagg", "feddb", "twin-sight"),
    "LAC": ("lower", "uniform", "semianagg", "sage", "feddb", "fl2", "proxyfl"),
    "LS": ("lower", "uniform", "semianagg", "semifl", "semifl-static", "fl2"),
}
"""What is compared if nobody says otherwise; the first is a bound, labels alone."""
_REFERENCE = "uniform"


@dataclass(frozen=True)
class Benchmark:
    """Methods on one data set under one card."""

    card: CardName
    dataset: str
    arms: tuple[str, ...]
    reference: str
    """The method that others are compared with, seed by seed."""

    @property
    def name(self) -> str:
        """Name its files."""
        return f"benchmark-{self.card.lower()}-{self.dataset}"

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All experiments that it needs."""
        return tuple(self.setting(arm) for arm in self.arms)

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that are no bounds."""
        return tuple(arm for arm in self.arms if arm not in BOUNDS)

    def setting(self, arm: str) -> Setting:
        """Put an arm under the card.

        LC is the paper's setting and LPC that of its Table 2, so that their runs are
        those of `fedsemi reproduce`.
        """
        if self.card == "LC":
            return setting(self.dataset, arm)
        if self.card == "LPC":
            fraction = CARDS["LPC"].labeled_fraction
            return setting(self.dataset, arm, labeled_fraction=fraction)
        return Setting(self.dataset, arm, card=self.card)

    def made_for(self, arm: str) -> bool:
        """Tell whether the arm's method is made for this card, or says nothing."""
        cards = METHODS[arm_of(arm).steps[-1].method].cards
        return not cards or self.card in cards


def benchmarks(
    card: str, methods: Sequence[str], reference: str | None, profile: Profile
) -> list[Benchmark]:
    """Make the benchmark of a card on each data set that a profile has for it."""
    name = _card(card)
    if not (datasets := profile.cards.get(name)):
        there = ", ".join(profile.cards) or "none"
        raise ConfigError(
            f"profile '{profile.name}' has no benchmark under {name}, only under "
            f"{there}; use --profile medium",
            code="FS4520",
        )
    arms = tuple(dict.fromkeys(methods or DEFAULTS[name]))
    for arm in arms:
        arm_of(arm)
    chosen = _reference(arms, reference)
    made = [Benchmark(name, dataset, arms, chosen) for dataset in datasets]
    for each in made:
        _check_warm_ups(each, profile)
    return made


def title_of(arm: str) -> str:
    """Name a row: an arm's title, or the name of a method from outside."""
    return ARMS[arm].title if arm in ARMS else arm


def _card(name: str) -> CardName:
    for card in CARDS:
        if card == name.upper():
            return card
    raise ConfigError(
        f"there is no card '{name}'{nearest(name, CARDS)}; known: {', '.join(CARDS)}",
        code="FS4104",
    )


def _reference(arms: Sequence[str], said: str | None) -> str:
    if said is None:
        return _REFERENCE if _REFERENCE in arms else arms[0]
    if said not in arms:
        raise ConfigError(
            f"--reference {said} is not compared; name one of {', '.join(arms)}",
            code="FS4521",
        )
    return said


def _check_warm_ups(each: Benchmark, profile: Profile) -> None:
    """Refuse a warm-up as a row where nobody has one."""
    for arm in set(each.arms) & set(WARM_UPS):
        if not profile.table_of(each.setting(arm))["warm_up"]:
            raise ConfigError(
                f"--methods {arm}: under {each.card} there is no warm-up; 'lower' "
                "learns from labels alone",
                code="FS4522",
            )
