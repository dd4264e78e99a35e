"""What an audit of weights says in sentences that a person can act on."""

from __future__ import annotations

from collections.abc import Sequence

from fedsemi.text.printable import printable
from fedsemi.valuation.update_space import Place
from fedsemi.valuation.weight_audit import FACTS, Audit

_SLIGHT = 0.02
"""Shares that move less of the mean than this are as good as equal."""
_MOSTLY = 0.8
"""R² from which a plain number may stand for the shares."""
_ORDERED = 0.5
"""Rank correlation that it needs for that, towards the same side."""
_TIE = 0.001
"""Mean gain, as a part of all test images, that is not worth a rule."""
_THINGS = {
    "presence": "pseudo-classes",
    "counts": "labels and pseudo-labels",
    "size": "images",
}
"""What each fact counts."""
_MORE = "look at more rounds"
"""What to do where most rounds and their mean disagree."""
_TURNED = 0.1
"""Cosine from which on a difference points somewhere."""
_OFTEN = 2.0
"""Times its even part from which on a class of the head stands out."""


def verdict(found: Audit) -> str:
    """Say in a sentence what to do about the shares."""
    moved = f"{found.method} moves {found.moved:.1%} of the mean away from equal shares"
    gained = (
        f"they were worth {100 * found.gain:+.2f} points of accuracy within a round "
        f"(ahead in {_ahead(found)} of {len(found.accuracy)})"
    )
    return f"{moved}; {_advice(found)}; {gained}."


def _advice(found: Audit) -> str:
    """Ask what the shares are worth first: a simpler rule for a loss is no advice."""
    if found.moved < _SLIGHT:
        return "equal shares would do as well"
    rounds, ahead = len(found.accuracy), _ahead(found)
    if 2 * ahead <= rounds:
        told = f"{_not_ahead(found)} in {rounds - ahead} of {rounds} rounds"
        worse = found.gain >= _TIE
        return (
            f"{told}, but worse on average: {_MORE}" if worse else f"{told}: use them"
        )
    if found.gain <= -_TIE:
        told = f"equal shares did better on average, but worse in {ahead} of {rounds}"
        return f"{told} rounds: {_MORE}"
    if found.gain < _TIE:
        return "equal shares did as well on average: use them"
    return _explained(found)


def _ahead(found: Audit) -> int:
    pairs = zip(found.accuracy, found.equal_accuracy, strict=True)
    return sum(own > equal for own, equal in pairs)


def _not_ahead(found: Audit) -> str:
    """Say whether equal shares were better or tied where the method's did not win."""
    pairs = list(zip(found.accuracy, found.equal_accuracy, strict=True))
    better, tied = any(a < b for a, b in pairs), any(a == b for a, b in pairs)
    how = " or ".join(["better"] * better + ["as well"] * tied)
    return f"equal shares did {how}"


def _explained(found: Audit) -> str:
    """Say which plain number stands for the shares, if one does, and which way."""
    best = max(FACTS, key=lambda fact: _alone(found, fact))
    alone = _alone(found, best)
    if alone < _MOSTLY:
        every = found.explained(*FACTS) or 0.0
        return f"presence, counts and size explain {every:.0%} of that together"
    way = "more" if found.rising(best) else "fewer"
    return (
        f"sites with {way} {_THINGS[best]} get more, and {best} alone explains "
        f"{alone:.0%} of that, so a rule by {best} may do"
    )


def _alone(found: Audit, fact: str) -> float:
    """Return R² by a fact that puts sites in the order of their shares, else 0.

    A single site far from all others makes a large R², whatever orders these.
    """
    rank = found.ranked(fact) or 0.0
    follows = abs(rank) >= _ORDERED and (rank > 0) == found.rising(fact)
    return (found.explained(fact) or 0.0) if follows else 0.0


def where(place: Place | None, class_names: Sequence[str]) -> str:
    """Say in which layers and classes the shares act, and which way they turn."""
    if place is None:
        return "Nowhere in the update do they differ from equal shares."
    text = (
        f"They change the step of a round by {place.whole:.1%} of its length, "
        f"{place.part[place.most]:.0%} of that in {place.most}"
    )
    return f"{text}{_classes(place, class_names)}; {_direction(place)}."


def _classes(place: Place, class_names: Sequence[str]) -> str:
    """Name the classes of the head that are moved more than others."""
    even = 1 / max(len(place.classes), 1)
    named = zip(class_names, place.classes, strict=False)
    standing_out = [(name, part) for name, part in named if part >= _OFTEN * even]
    if not standing_out:
        return ""
    standing_out.sort(key=lambda each: -each[1])
    told = [f"{printable(name)} {part:.0%}" for name, part in standing_out[:3]]
    return f", within the head most in the rows of {', '.join(told)}"


def _direction(place: Place) -> str:
    cosine = place.labeled_cosine
    if cosine is None:
        return f"both steps have a cosine of {place.step_cosine:.2f}"
    told = f"(cosine {cosine:+.2f})"
    if abs(cosine) < _TURNED:
        return (
            f"that is neither towards the labeled site's step nor away from it {told}"
        )
    way = "towards" if cosine > 0 else "away from"
    return f"that is {way} the labeled site's step {told}"
