"""A server's process has no r_kc, no share and no site's model, in a whole round.

All that reaches it is recorded, in process and as Flower's messages; what it keeps as
well. The only thing in it that depends on the sites are two sums over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from fedsemi.errors import ProtocolError
from fedsemi.privacy import shamir
from fedsemi.privacy.fixed_point import to_fixed, zeros
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.letters import Advert, Consent, Envelopes, Opened
from fedsemi.privacy.masked import Masked
from fedsemi.privacy.parameters import PHASES
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.steps import STEPS, read
from fedsemi.privacy.vault import HeldVault
from fedsemi.weights import digest

from .overheard import (
    ROUTES,
    SITES,
    Overheard,
    Truth,
    in_process,
    known_secrets,
    numbers_of,
    simulated,
    start_of,
    truths,
    written,
)

NEEDED = Rules().needed(SITES)
UNLIKELY = 1e-5
"""Of a p-value: some hundred are looked at, always the same ones."""


@pytest.fixture(scope="module")
def both() -> dict[str, Overheard]:
    with known_secrets():
        return {name: route(simulated()) for name, route in ROUTES.items()}


@pytest.fixture(params=ROUTES)
def heard(request: pytest.FixtureRequest, both: dict[str, Overheard]) -> Overheard:
    return both[request.param]


@pytest.fixture(scope="module")
def truth() -> dict[int, Truth]:
    found = truths()
    assert all(float(each.claims.sum()) > 0 for each in found.values())
    return found


def test_the_round_is_the_same_both_ways_and_has_all_steps(
    both: dict[str, Overheard],
) -> None:
    assert len({digest(each.model) for each in both.values()}) == 1
    for each in both.values():
        assert len(each.answers) == SITES * len(STEPS)


def test_an_answer_holds_one_part_of_a_sum_and_nothing_else(heard: Overheard) -> None:
    for update in heard.answers:
        assert update.statistics.keys() == {STEPS[update.group].name}
        assert update.weights == {}
        assert update.metrics == {}
        assert update.findings is None or not any(written(update.findings))
        assert (update.num_labeled, update.num_unlabeled, update.num_pseudo) == (0,) * 3


def test_nothing_that_arrives_or_is_kept_holds_what_a_site_computed(
    heard: Overheard, truth: dict[int, Truth]
) -> None:
    public = b"".join((*written(heard.model), *heard.sums))
    for text in (*heard.texts, *heard.kept):
        assert not list(_found(text, truth, public))


def test_without_masks_the_same_search_finds_all_of_it(truth: dict[int, Truth]) -> None:
    bare = in_process(simulated(), masks=False)
    public = b"".join(written(bare.model))
    texts = b"".join(bare.texts)
    assert {site for site, _ in _found(texts, truth, public)} == set(range(SITES))
    for phase in PHASES:
        numbers = numbers_of(bare.of(phase)[0], phase)
        assert min(_p_values(numbers)) < UNLIKELY
    claims = to_fixed(truth[0].claims.numpy(), "claims").tobytes()
    assert claims in texts


def _found(
    text: bytes, truth: dict[int, Truth], public: bytes
) -> Iterator[tuple[int, bytes]]:
    """Search for eight bytes in a row of anything that a site computed."""
    for site, secret in truth.items():
        for part in secret.parts():
            for start in range(0, len(part) - 7, 8 * max(1, len(part) // 400)):
                window = part[start : start + 8]
                told = len(set(window)) > 3 and window not in public
                if told and window in text:
                    yield site, window


@pytest.mark.parametrize("phase", PHASES)
def test_each_message_and_each_sum_of_fewer_than_the_agreed_number_is_noise(
    heard: Overheard, phase: Any
) -> None:
    sent = {id: numbers_of(t, phase) for id, t in heard.of(phase).items()}
    assert len(sent) == SITES
    for size in range(1, NEEDED):
        for some in combinations(sorted(sent), size):
            added, turns = zeros(phase, len(sent[0])), zeros(phase, len(sent[0]))
            for place, id in enumerate(some):
                added += sent[id]
                turns += sent[id] if place % 2 else -sent[id]
            assert min(_p_values(added)) > UNLIKELY, some
            assert min(_p_values(turns)) > UNLIKELY, some


def test_letters_are_noise_too(heard: Overheard) -> None:
    for text in heard.of("shares").values():
        sealed = b"".join(read(Envelopes, text).sealed.values())
        assert min(_p_values(np.frombuffer(sealed, np.uint8))) > UNLIKELY
    for phase in PHASES:
        for text in heard.of(f"{phase}_opened").values():
            opened = read(Opened, text)
            assert opened.own.keys() == set(range(SITES))
            assert not opened.pair
            shares = b"".join(each[1:] for each in opened.own.values())
            assert min(_p_values(np.frombuffer(shares, np.uint8))) > UNLIKELY
    for text in heard.of("keys").values():
        advert = read(Advert, text)
        bound = np.frombuffer(b"".join(advert.own), np.uint8)
        assert min(_p_values(bound)) > UNLIKELY
    for phase in PHASES:
        for text in heard.of(f"{phase}_set").values():
            assert read(Consent, text) == Consent(signature=b"")  # of simulated sites


@pytest.mark.parametrize("phase", PHASES)
def test_fewer_helpers_than_agreed_have_another_secret_than_the_site(
    heard: Overheard, phase: Any
) -> None:
    opened = {id: read(Opened, t) for id, t in heard.of(f"{phase}_opened").items()}
    for site in range(SITES):
        own = {id: int.from_bytes(each.own[site], "big") for id, each in opened.items()}
        secret = _joined(own, range(SITES))
        for size in range(1, SITES):
            for some in combinations(range(SITES), size):
                assert (_joined(own, some) == secret) == (size >= NEEDED), some


def _joined(shares: dict[int, int], some: Iterable[int]) -> int:
    places = {id + 1: shares[id] for id in some}
    return shamir.joined(places, shamir.weights_of(tuple(places)))


class Lax(Rules):
    """Of a server that would open any sum; sites go by rules of their own."""

    def check(self, num_left: int, num_sites: int) -> None:
        pass

    def check_unlabeled(self, sites: Any, unlabeled: Any) -> None:
        pass


FEW = [
    (step, left)
    for step, least in {
        "shares": Rules().least_sites,
        "claims": NEEDED,
        "claims_set": NEEDED,
        "claims_opened": NEEDED,
        "model_set": NEEDED,
        "model_opened": NEEDED,
    }.items()
    for left in range(1, least)
]


@pytest.mark.parametrize(("step", "left"), FEW)
def test_a_site_with_fewer_peers_than_agreed_refuses_whatever_the_server_wants(
    step: str, left: int
) -> None:
    """From this step on the server tells sites that no more than `left` are there."""
    simulation = simulated()
    method: Any = simulation.method(simulation.experiment.stages[0])
    server = Masked(method.method, replace(method.terms, rules=Lax()))
    clients = list(simulation.federation.clients)
    sites = [method.at(Unsigned(), HeldVault()) for _ in clients]
    memories: list[Any] = [{} for _ in clients]
    state = server.init(*start_of(simulation))
    for before in STEPS:
        tasks = server.plan(state)
        if before.name == step:
            for task in tasks:
                with pytest.raises(ProtocolError, match="FS6004"):
                    sites[task.client].train(
                        task, clients[task.client], memories[task.client]
                    )
            return
        updates = []
        for task in tasks:
            id = task.client
            update, memories[id] = sites[id].train(task, clients[id], memories[id])
            updates.append(update)
        following = STEPS[STEPS.index(before) + 1].name
        few = updates[:left] if following == step else updates
        state = server.aggregate(state, few)


def _p_values(numbers: Any) -> tuple[float, float]:
    """How likely half bytes, and ones among the bits, are such for uniform numbers."""
    raw = np.ascontiguousarray(numbers).view(np.uint8)
    halves = np.concatenate([raw >> 4, raw & 15])
    bits = np.unpackbits(raw)
    even = chisquare(np.bincount(halves, minlength=16)).pvalue
    return float(even), float(binomtest(int(bits.sum()), len(bits)).pvalue)
