"""All that reaches the server is noise, but for the sum over all sites."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from fedsemi.privacy import site_masks
from fedsemi.privacy.fixed_point import to_fixed, zeros
from fedsemi.privacy.letters import Opened

from .played import Played, sites_of

SITES = 5
NUMBERS = 8192
UNLIKELY = 1e-6
"""Of a p-value: some hundred of them are looked at."""


def _played(claims: Any, model: Any, **lost: Any) -> Played:
    values = {
        "claims": {id: np.full(64, claims(id)) for id in range(SITES)},
        "model": {id: np.full(NUMBERS, model(id)) for id in range(SITES)},
    }
    return Played(sites_of(range(SITES)), values, **lost).run()


def _masked(played: Played, phase: str) -> dict[int, Any]:
    return {id: answer for step, id, answer in played.seen if step == phase}


def _p_values(numbers: Any) -> tuple[float, float]:
    counts = np.bincount(numbers.view(np.uint8), minlength=256)
    width = 2.0 ** (8 * numbers.itemsize)
    uniform = kstest(numbers.astype(np.float64) / width, "uniform")
    return float(chisquare(counts).pvalue), float(uniform.pvalue)


@pytest.mark.parametrize("model", [lambda id: 0.0, lambda id: 1.5, lambda id: id / 4])
def test_every_message_and_every_sum_of_fewer_than_all_is_uniform(model: Any) -> None:
    masked = _masked(_played(lambda id: 1.0, model), "model")
    for size in range(1, SITES):
        for some in combinations(range(SITES), size):
            total = zeros("model", NUMBERS)
            for id in some:
                total += masked[id]
            assert min(_p_values(total)) > UNLIKELY, some


def test_all_messages_together_are_uniform_too_until_the_sites_open_them() -> None:
    played = _played(lambda id: 1.0, lambda id: 0.25)
    total = zeros("model", NUMBERS)
    for numbers in _masked(played, "model").values():
        total += numbers
    assert min(_p_values(total)) > UNLIKELY
    assert played.sums["model"] == [0.25 * SITES] * NUMBERS


def test_claims_are_uniform_whatever_they_are() -> None:
    for claims in (lambda id: 0.0, lambda id: float(id == 2)):
        for numbers in _masked(_played(claims, lambda id: 0.0), "claims").values():
            high = (numbers >> np.uint64(56)).astype(np.uint8)  # 64 numbers, top bytes
            assert len(set(high.tolist())) > 40


def test_a_wrong_test_would_have_noticed_numbers_that_are_not_masked() -> None:
    assert min(_p_values(to_fixed(np.full(NUMBERS, 0.25), "model"))) < UNLIKELY


def test_two_inputs_with_one_sum_look_exactly_alike(monkeypatch) -> None:
    """With masks that are truly random, in a ring small enough to try them all.

    Every combination of pair masks gives a transcript, which is what the server has
    once own masks are off. Two inputs with the same sum have the same transcripts, each
    as often; an input with another sum has none of them.
    """
    ring = 4
    pairs = list(combinations(range(3), 2))

    def transcripts(inputs: tuple[int, ...]) -> Counter[tuple[int, ...]]:
        found: Counter[tuple[int, ...]] = Counter()
        for masks in product(range(ring), repeat=len(pairs)):
            chosen = dict(zip(pairs, masks, strict=True))
            found[
                tuple(_seen(monkeypatch, k, inputs[k], chosen, ring) for k in range(3))
            ] += 1
        return found

    one, same, other = (
        transcripts((3, 0, 2)),
        transcripts((1, 1, 3)),
        transcripts((1, 1, 2)),
    )
    assert one == same
    assert not one.keys() & other.keys()


def _seen(monkeypatch, me: int, value: int, masks: dict[Any, int], ring: int) -> int:
    """Mask one number by the site's own code, with masks of our choice as keys."""

    class Stub:
        pass

    record: Any = Stub()
    record.advert, record.session = Stub(), b""
    record.advert.site = me
    record.own = record.pair = (b"", b"")
    record.roster = Stub()
    adverts = []
    for site in range(3):
        advert: Any = Stub()
        advert.site, advert.pair = site, (b"", b"")
        adverts.append(advert)
    record.roster.adverts = adverts
    monkeypatch.setattr(site_masks, "own_key", lambda *_: 0)
    monkeypatch.setattr(
        site_masks, "pair_key", lambda s, p, i, c, ids: masks[tuple(sorted(ids))]
    )
    monkeypatch.setattr(site_masks, "add_mask", lambda total, key: _add(total, key))
    monkeypatch.setattr(
        site_masks, "subtract_mask", lambda total, key: _add(total, -key)
    )
    numbers: Any = np.array([value])
    total = site_masks.masked(record, "model", numbers, (0, 1, 2), b"")
    return int(total[0]) % ring


def _add(total: Any, key: int) -> None:
    total += key


def test_what_sites_open_is_of_each_other_site_one_secret_only() -> None:
    """Site 4 is lost before it sends its claims, or between the two sums."""
    for step, whose in (("claims", {"claims": {4}}), ("model", {"model": {4}})):
        played = _played(lambda id: 1.0, lambda id: 0.0, lost={4: step})
        for phase in ("claims", "model"):
            opened = [each for s, _, each in played.seen if s == f"open {phase}"]
            lost = whose.get(phase, set())
            there = set(range(SITES)) - ({4} if step == "claims" else lost)
            assert len(opened) == len(there)
            for answer in opened:
                assert isinstance(answer, Opened)
                assert answer.pair.keys() == lost
                assert answer.own.keys() == there
