"""Sums in groups: each is masked and opened for itself, whoever is lost or looks."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.engines import InProcess, Workers
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.fixed_point import to_fixed, zeros
from fedsemi.privacy.groups import Deal
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.letters import Consents, Dealt, Opened, Survivors
from fedsemi.privacy.masked import Masked
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.steps import LETTER, STEPS, as_tensor, read
from fedsemi.privacy.vault import HeldVault
from fedsemi.runs.state_codec import decode, encode
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.rounds import run
from fedsemi.weights import digest

from .played import BOUND, NONCE, Played, refused, sites_of
from .played import STEPS as PLAYED_STEPS
from .test_masked import NAMES, Drift, Losing, _clients, _terms
from .test_what_the_server_sees import UNLIKELY, _p_values

RULES = Rules(groups=3)
VALUES: dict[str, dict[int, Any]] = {
    "claims": {id: [float(id), 1.0] for id in range(10)},
    "model": {id: [0.25 * id, -1.0, 0.5] for id in range(10)},
}
ON = Guard(enabled=True, sees_steps=False)
OFF = Guard(sees_steps=False)


def dealt(sites) -> Deal:
    return Deal.of("model", sites, RULES, 0)


def test_each_group_is_summed_for_itself_and_claims_over_all() -> None:
    played = Played(sites_of(range(10), RULES), VALUES).run()
    assert played.parts["claims"] == {0: [45.0, 10.0]}
    assert len(played.parts["model"]) == 3
    for place, group in enumerate(dealt(range(10)).groups):
        due = np.sum([VALUES["model"][id] for id in group], axis=0)
        assert played.parts["model"][place] == due.tolist()


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(0, 9), st.sampled_from(PLAYED_STEPS), max_size=3))
def test_a_lost_site_is_missing_from_its_group_or_takes_that_group_along(
    lost: dict[int, str],
) -> None:
    played = Played(sites_of(range(10), RULES), VALUES, lost).run()
    sent = {
        phase: [
            id
            for id in range(10)
            if PLAYED_STEPS.index(lost.get(id, PLAYED_STEPS[-1]))
            > PLAYED_STEPS.index(phase)
        ]
        for phase in VALUES
    }
    due = {}
    for place, group in enumerate(dealt(sent["claims"]).groups):
        left = [id for id in group if id in sent["model"]]
        if len(left) >= 3:
            total = np.sum([VALUES["model"][id] for id in left], axis=0)
            due[place] = total.tolist()
    assert played.parts["model"] == due


def test_a_group_that_loses_one_of_three_is_lost_alone() -> None:
    """Nine sites, seven needed: two of the lost group help the others to open."""
    nine = {name: {id: v[id] for id in range(9)} for name, v in VALUES.items()}
    victim = dealt(range(9)).groups[1][0]
    played = Played(sites_of(range(9), RULES), nine, {victim: "model"}).run()
    assert played.parts["model"].keys() == {0, 2}
    helpers = {id for step, id, _ in played.seen if step == "open model"}
    assert helpers == set(range(9)) - {victim}


def test_of_a_lost_group_no_secret_is_opened_and_of_others_one_of_two() -> None:
    nine = {name: {id: v[id] for id in range(9)} for name, v in VALUES.items()}
    groups = dealt(range(9)).groups
    played = Played(sites_of(range(9), RULES), nine, {groups[1][0]: "model"}).run()
    opened = [each for step, _, each in played.seen if step == "open model"]
    for each in opened:
        assert isinstance(each, Opened)
        assert each.own.keys() == {*groups[0], *groups[2]}
        assert each.pair == {}


def test_all_that_reaches_the_server_is_noise_but_for_each_groups_sum() -> None:
    size = 4096
    values = {
        "claims": {id: [1.0] for id in range(9)},
        "model": {id: np.full(size, id / 4) for id in range(9)},
    }
    played = Played(sites_of(range(9), RULES), values).run()
    masked = {id: each for step, id, each in played.seen if step == "model"}
    groups = played.groups["model"]
    # All of one group as well, and pieces of several, until the sites open them.
    looks = [some for n in (1, 2, 3) for g in groups for some in combinations(g, n)]
    looks += [(groups[0][0], groups[1][0]), (*groups[0], *groups[2]), tuple(range(9))]
    for some in looks:
        total = zeros("model", size)
        for id in some:
            total += masked[id]
        assert min(_p_values(total)) > UNLIKELY, some
    for place, group in enumerate(groups):
        assert played.parts["model"][place] == [sum(group) / 4] * size


class Settled:
    """Nine sites that have summed their claims; what is left is the model."""

    def __init__(self, settle=lambda id: True) -> None:
        self.sites = sites_of(range(9), RULES)
        session = SumSession(RULES, "a plan", 0, NONCE)
        each = self.sites.items()
        session = session.with_adverts({i: s.begin(0, NONCE, BOUND) for i, s in each})
        found = {i: s.share(0, session.roster) for i, s in each}
        session = session.with_envelopes(found)
        for i, site in each:
            site.receive(0, session.envelopes_for(i))
        numbers = to_fixed(np.ones(2), "claims")
        found = {i: s.mask(0, "claims", numbers, BOUND) for i, s in each}
        session = session.with_numbers("claims", found, 2)
        told = session.survivors_of("claims")
        signed = {i: s.consent(0, "claims", told).signature for i, s in each}
        self.session = session.with_consents("claims", signed)
        for i, site in each:
            if settle(i):
                site.open(0, "claims", self.session.consents["claims"])
        self.numbers = to_fixed(np.ones(4), "model")

    def masked(self) -> Settled:
        found = {
            i: s.mask(0, "model", self.numbers, BOUND) for i, s in self.sites.items()
        }
        self.session = self.session.with_numbers("model", found, 4)
        return self


def test_a_site_agrees_to_no_piece_of_a_group_its_own_or_another() -> None:
    stage = Settled().masked()
    groups = stage.session.deal("model").groups
    site = stage.sites[groups[0][0]]
    for pieces in (
        (groups[0][:2], groups[1], groups[2]),
        (groups[0], groups[1][:2], groups[2]),
        (groups[0], groups[1][:1], ()),
        ((), (), ()),
    ):
        told = Survivors(sites=tuple(sorted(id for piece in pieces for id in piece)))
        assert refused(site.consent, 0, "model", told) == "FS6004"
    without_me = Survivors(sites=tuple(sorted((*groups[0][1:], *groups[1]))))
    assert refused(site.consent, 0, "model", without_me) == "FS6005"


def test_of_a_round_one_set_of_groups_is_agreed_to() -> None:
    stage = Settled().masked()
    groups = stage.session.deal("model").groups
    site = stage.sites[groups[0][0]]
    site.consent(0, "model", Survivors(sites=tuple(sorted(groups[0] + groups[1]))))
    other = Survivors(sites=tuple(range(9)))
    assert refused(site.consent, 0, "model", other) == "FS6005"


def test_a_site_that_did_not_see_the_others_agree_masks_no_step() -> None:
    """A server could tell it of a smaller federation, whose groups it would choose."""
    stage = Settled(settle=lambda id: id != 4)
    assert refused(stage.sites[3].mask, 0, "model", stage.numbers, BOUND) == ""
    assert refused(stage.sites[4].mask, 0, "model", stage.numbers, BOUND) == "FS6005"
    few = dict(list(stage.session.consents["claims"].signatures.items())[:6])
    told = Consents(signatures=few)
    assert refused(stage.sites[4].open, 0, "claims", told) == "FS6004"
    assert refused(stage.sites[4].mask, 0, "model", stage.numbers, BOUND) == "FS6005"


class Liar(Drift):
    """As Drift, but client 8 goes a hundred times as far."""

    def train(self, task, client, memory):
        update, kept = super().train(task, client, memory)
        if client.id == 8:
            old, new = task.weights["x"], update.weights["x"]
            far = {**update.weights, "x": old + 100 * (new - old)}
            update = replace(update, weights=far)
        return update, kept


def terms(masks: bool = True, groups: int = 3) -> Any:
    return replace(_terms(masks, groups=groups), clip=100.0)


def started(method: Masked, clients: Any) -> Any:
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    return method.init(weights, [c.info for c in clients], 7)


def played(
    lost=None, masks=True, groups=3, guard=ON, drift=Drift, rounds=2, state=None
):
    method, clients = Masked(drift(), terms(masks, groups)), _clients(9)
    gate = Gate(guard, method.statistics, sees_models=False)
    with InProcess(method, clients) as inner:
        begun = state or started(method, clients)
        if state is not None:
            inner.restore({c.id: {"visits": torch.ones(1)} for c in clients})
        return list(run(method, Losing(inner, lost or {}), begun, rounds, gate))


def test_groups_change_no_bit_where_nothing_is_cut() -> None:
    whole = played(groups=1)
    for guard in (OFF, ON):
        found = played(groups=3, guard=guard)
        assert digest(found[-1].state.weights) == digest(whole[-1].state.weights)
        assert [len(each.groups) for each in found] == [3, 3]


@settings(max_examples=10, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, 8)),
        st.integers(0, len(STEPS) - 1),
        max_size=4,
    ),
    st.sampled_from([Drift, Liar]),
)
def test_masked_has_the_bits_of_unmasked_in_groups_whoever_is_lost(lost, drift) -> None:
    masked = played(lost, masks=True, drift=drift)
    plain = played(lost, masks=False, drift=drift)
    for a, b in zip(masked, plain, strict=True):
        assert digest(a.state.weights) == digest(b.state.weights)
        assert a.skipped == b.skipped
        assert a.groups == b.groups
        assert a.state.gate.guard == b.state.gate.guard


def test_the_group_of_a_liar_is_cut_and_named_with_all_who_are_in_it() -> None:
    (done,) = played(drift=Liar, rounds=1)
    (cut,) = [each for each in done.notices if each.code == "FS2143"]
    (caught,) = [each for each in done.groups if each.part < 1]
    assert 8 in caught.summed
    assert ", ".join(map(str, caught.clients)) in cut.reason
    assert caught.part < 0.01
    # Without it the model moves about as far as honest steps go.
    assert float(done.state.weights["x"].norm()) < 2
    (unguarded,) = played(drift=Liar, rounds=1, guard=OFF)
    assert float(unguarded.state.weights["x"].norm()) > 10


def test_after_a_resume_the_bits_and_what_the_guard_remembers_are_the_same() -> None:
    first, second = played(drift=Liar)
    assert first.state.gate.guard.steps
    tensors: dict[str, torch.Tensor] = {}
    tree = encode(first.state, tensors)
    again = decode(tree, tensors, first.state)
    (resumed,) = played(drift=Liar, state=again)
    assert digest(resumed.state.weights) == digest(second.state.weights)
    assert resumed.groups == second.groups


def test_workers_deal_and_sum_the_same_groups() -> None:
    results = set()
    for engine in (InProcess, lambda m, c: Workers(m, c, 2)):
        method = Masked(Liar(), terms())
        with engine(method, _clients(9)) as inner:
            gate = Gate(ON, method.statistics, sees_models=False)
            (done,) = run(method, inner, started(method, _clients(9)), 1, gate)
            results.add((digest(done.state.weights), done.groups))
    assert len(results) == 1


def test_one_site_lost_of_three_costs_its_group_the_round_and_no_other() -> None:
    groups = played(rounds=1)[0].groups
    victim = groups[2].clients[0]
    (done,) = played({(0, victim): NAMES.index("model")}, rounds=1)
    assert [each.summed for each in done.groups] == [
        groups[0].clients,
        groups[1].clients,
        (),
    ]
    assert [each.code for each in done.notices] == ["FS6021"]
    assert not done.skipped
    assert done.groups[2].part == 0


def test_fewer_sites_make_fewer_groups_and_one_group_is_compared_with_nothing() -> None:
    gone = {(0, id): 0 for id in range(3)}
    assert len(played(gone, rounds=1)[0].groups) == 2
    gone = {(0, id): 0 for id in range(4)}
    (done,) = played(gone, rounds=1, drift=Liar)
    assert [each.part for each in done.groups] == [1.0]


def test_a_site_that_is_told_another_group_than_the_plans_refuses() -> None:
    method, clients = Masked(Drift(), terms()), _clients(9)
    sites = [method.at(Unsigned(), HeldVault()) for _ in clients]
    memories: list[Any] = [{} for _ in clients]
    state = started(method, clients)
    for _ in range(NAMES.index("model")):
        updates = []
        for task in method.plan(state):
            id = task.client
            update, memories[id] = sites[id].train(task, clients[id], memories[id])
            updates.append(update)
        state = method.aggregate(state, updates)
    task = next(task for task in method.plan(state) if task.client == 3)
    told = read(Dealt, task.broadcast[LETTER])
    assert 3 in told.group and len(told.group) == 3
    alone = told.model_copy(update={"group": (3,)})
    swapped = replace(task, broadcast={LETTER: as_tensor(alone)})
    with pytest.raises(ProtocolError, match=r"FS6005.*the group is not the plan's"):
        sites[3].train(swapped, clients[3], memories[3])
    sites[3].train(task, clients[3], memories[3])


def test_five_sites_are_too_few_for_groups() -> None:
    method, clients = Masked(Drift(), terms()), _clients(5)
    with pytest.raises(ConfigError, match="FS6020"):
        started(method, clients)
