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
_TURNED = 0.1
"""Cosine from which on a difference points somewhere."""
_OFTEN = 2.0
"""Times its even part from which on a class of the head stands out."""


def verdict(found: Audit) -> str:
    """Say in a sentence what to do about the shares."""
    moved = f"{found.method} moves {found.moved:.1%} of the mean away from equal shares"
    ahead = sum(
        a > b for a, b in zip(found.accuracy, found.equal_accuracy, strict=True)
    )
    rounds = len(found.accuracy)
    gained = (
        f"they were worth {100 * found.gain:+.2f} points of accuracy within a round "
        f"(ahead in {ahead} of {rounds})"
    )
    if found.moved < _SLIGHT:
        return f"{moved}: equal shares would do as well; {gained}."
    best = max(FACTS, key=lambda fact: found.explained(fact) or 0.0)
    alone = found.explained(best) or 0.0
    if alone >= _MOSTLY:
        told = f"{best} alone explains {alone:.0%} of that: weigh by it, it is simpler"
    else:
        every = found.explained(*FACTS) or 0.0
        told = f"presence, counts and size explain {every:.0%} of that together"
    return f"{moved}; {told}; {gained}."


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
