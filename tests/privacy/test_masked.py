"""Masked rounds: the same bits as the same sums without masks, whoever is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.config.experiment import make_experiment
from fedsemi.contributions import by_data_size
from fedsemi.data.client import Client
from fedsemi.engine import Engine, WrappedEngine
from fedsemi.engines import InProcess, Workers
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import Answer, ClientInfo, Task, Update, public
from fedsemi.method import Method
from fedsemi.privacy.at_site import Terms, shortened
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.letters import Account, Claimed
from fedsemi.privacy.masked import Masked
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.steps import LETTER, STEPS, as_tensor, read
from fedsemi.privacy.vault import HeldVault
from fedsemi.runs.reading import record_of
from fedsemi.runs.state_codec import decode, encode
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence
from fedsemi.server.rounds import run
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.sums import Sums
from fedsemi.weights import digest

from .played import masks_of, refused
from .signed import enrolled

NAMES = [step.name for step in STEPS]
PLAIN_WARM_UP = {"masked": True, "plain_warm_up": True}


@dataclass(frozen=True)
class Drift(Method[Any]):
    """Client k moves by k eighths, counts by its labels, and remembers its visits."""

    name = "drift"

    def train(self, task, client, memory):
        visits = memory.get("visits", torch.zeros(1)) + 1
        step = torch.tensor([client.id / 8, -1.0, float(visits)])
        learned = {"x": task.weights["x"] + step, "n": task.weights["n"] + 1}
        return Update(client.id, task.round, learned, client.num_labeled, 0), {
            "visits": visits
        }

    def contributions(self, updates):
        return by_data_size(updates)

    def as_sums(self):
        return Sums(lambda update: update.num_labeled)

    def aggregate(self, state, updates):
        shares = by_data_size(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)


class Losing(WrappedEngine):
    """Loses the answer of some sites at some steps, and is asked no more by them."""

    def __init__(self, engine: Engine, lost: Mapping[tuple[int, int], int]) -> None:
        super().__init__(engine)
        self.lost = lost
        self.seen: list[Update] = []

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        there = [
            task
            for task in tasks
            if task.group < self.lost.get((task.round, task.client), len(STEPS))
        ]
        answers = list(self.engine.run(there))
        self.seen += answers
        return answers


def _clients(num: int) -> list[Client]:
    empty = torch.zeros(0, 3, 8, 8, dtype=torch.uint8)
    return [
        Client(
            id, empty[:0].new_zeros(id + 1, 3, 8, 8), torch.zeros(id + 1).long(), empty
        )
        for id in range(num)
    ]


def _terms(**rules: Any) -> Terms:
    return Terms("a plan", Rules(**rules), clip=100.0)


def _played(
    lost: Mapping[tuple[int, int], int],
    masks: bool = True,
    rounds: int = 2,
    num: int = 6,
):
    method = Masked(Drift(), _terms())
    clients = _clients(num)
    gate = Gate(statistics=method.statistics, sees_models=False)
    with InProcess(method, clients) as inner, masks_of(zero=not masks):
        engine = Losing(inner, lost)
        weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
        state = method.init(weights, [c.info for c in clients], 7)
        done = list(run(method, engine, state, rounds, gate))
        memories = {c.id: inner.memory(c.id) for c in clients}
    return done, engine.seen, memories


def test_a_round_moves_the_model_by_the_mean_step() -> None:
    done, *_ = _played({}, rounds=1)
    # Labels 1 to 6 of clients 0 to 5: the mean of k / 8 is (0+2+6+12+20+30) / 21 / 8.
    x = done[0].state.weights["x"]
    assert x.tolist() == pytest.approx([70 / 21 / 8, -1, 1], abs=1e-6)
    assert not done[0].skipped


def test_counters_stay_and_no_share_is_known() -> None:
    done, *_ = _played({}, rounds=1)
    assert int(done[0].state.weights["n"]) == 0
    assert done[0].state.contributions == {}


def test_memories_are_those_of_the_method_once_a_round_is_over() -> None:
    _, _, memories = _played({})
    assert all(memory.keys() == {"visits"} for memory in memories.values())
    assert all(float(memory["visits"]) == 2 for memory in memories.values())


@settings(max_examples=10, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, 5)),
        st.integers(0, len(STEPS) - 1),
        max_size=5,
    )
)
def test_masked_has_the_bits_of_unmasked_whoever_is_lost_whenever(lost) -> None:
    masked, seen, _ = _played(lost)
    plain, *_ = _played(lost, masks=False)
    for a, b in zip(masked, plain, strict=True):
        assert digest(a.state.weights) == digest(b.state.weights)
        assert a.skipped == b.skipped
    assert all(update.weights == {} and not update.metrics for update in seen)


@pytest.mark.parametrize("step", range(1, len(STEPS)))
def test_a_round_with_too_few_is_skipped_and_the_next_one_goes_on(step: int) -> None:
    lost = {(0, client): step for client in (0, 1)}  # 4 of 6, and 5 are needed
    done, *_ = _played(lost)
    assert [each.skipped for each in done] == [True, False]
    assert torch.equal(done[0].state.weights["x"], torch.zeros(3))
    assert [notice.code for notice in done[0].notices] == ["FS6004"]
    assert done[1].state.gate.skipped == 0


def test_a_site_lost_between_the_sums_leaves_its_share_with_the_old_model() -> None:
    done, *_ = _played({(0, 5): NAMES.index("model")}, rounds=1)
    # Client 5 has 6 of 21 labels: the others' 15 / 21 move the model.
    x = done[0].state.weights["x"]
    assert x.tolist() == pytest.approx([40 / 21 / 8, -15 / 21, 15 / 21], abs=1e-6)


def test_garbage_in_place_of_a_letter_is_a_refused_reply() -> None:
    method = Masked(Drift(), _terms())
    gate = Gate(statistics=method.statistics, sees_models=False)
    info = ClientInfo(0, 1, 0)
    task = Task(0, 0, {"x": torch.zeros(3)}, group=0)
    for told in (
        {"keys": torch.zeros(9, dtype=torch.uint8)},
        {"keys": torch.zeros(9)},
        {"claims": torch.zeros(9, dtype=torch.int32)},
        {"claims": torch.zeros(0, dtype=torch.int64)},
        {"r": torch.zeros(1)},
    ):
        update = Update(0, 0, {}, 0, 0, statistics=told)
        check = gate.check([task], [update], [info], gate_state())
        assert [each.code[:5] for each in check.dropped] == ["FS210"], told
    model = Update(0, 0, {"x": torch.zeros(3)}, 0, 0)
    assert gate.check([task], [model], [info], gate_state()).dropped


def gate_state():
    from fedsemi.state import GateState

    return GateState()


def test_the_same_steps_whatever_the_number_of_workers() -> None:
    results = set()
    for engine in (InProcess, lambda m, c: Workers(m, c, 2)):
        method = Masked(Drift(), _terms())
        with engine(method, _clients(4)) as inner:
            infos = inner.clients()
            weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
            state = method.init(weights, infos, 7)
            gate = Gate(statistics=method.statistics, sees_models=False)
            (done,) = run(method, inner, state, 1, gate)
            results.add(digest(done.state.weights))
    assert len(results) == 1


def _content(method: str, privacy: dict[str, Any], **stage: Any) -> dict[str, Any]:
    return {
        "data": {"name": "synthetic"},
        "partition": {"num_clients": 4},
        "model": {"name": "resnet8", "width": 4},
        "privacy": privacy,
        "stages": [
            {"method": "supervised", "rounds": 1},
            {"method": method, "rounds": 1, **stage},
        ],
    }


def _weights(content: dict[str, Any]) -> Mapping[str, torch.Tensor]:
    (*_, last) = run_simulation(build(make_experiment(content)))
    return last.weights


def test_a_record_says_which_rounds_were_under_masks() -> None:
    simulation = build(make_experiment(_content("fedavg", PLAIN_WARM_UP)))
    written = [step.record.as_json() for step in run_simulation(simulation)]
    assert "hidden" not in written[0]
    assert [record_of(each).hidden for each in written] == [False, True]


@pytest.mark.parametrize(
    ("method", "stage"),
    [
        ("semianagg", {}),
        ("semianagg", {"rule": "presence"}),
        ("uniform-semi", {}),
        ("fedavg-semi", {}),
        ("fedavg", {}),
    ],
)
def test_a_masked_run_is_the_plain_one_but_for_rounding(method, stage) -> None:
    plain = _weights(_content(method, {}, **stage))
    masked = _weights(_content(method, PLAIN_WARM_UP, **stage))
    for key, value in plain.items():
        if value.is_floating_point():
            assert torch.allclose(masked[key], value, atol=1e-5), key


def test_the_sum_over_one_labeled_site_is_refused_and_not_called_masked() -> None:
    experiment = make_experiment(_content("semianagg", {"masked": True}))
    with pytest.raises(ConfigError, match=r"FS6011 supervised.*plain_warm_up"):
        list(run_simulation(build(experiment)))


@pytest.mark.parametrize(
    ("method", "stage"),
    [("cbafed", {}), ("permuted-semi", {}), ("semianagg", {"rule": "released"})],
)
def test_what_cannot_be_masked_is_refused_before_anything_runs(method, stage) -> None:
    simulation = build(make_experiment(_content(method, PLAIN_WARM_UP, **stage)))
    with pytest.raises(ConfigError, match="FS6002"):
        simulation.method(simulation.experiment.stages[1])


def test_two_stages_that_are_written_alike_have_sessions_of_their_own() -> None:
    content = _content("fedavg", PLAIN_WARM_UP)
    content["stages"] += [dict(content["stages"][-1])]
    simulation = build(make_experiment(content))
    methods: Any = [simulation.method(each) for each in simulation.experiment.stages]
    assert methods[1].terms.context != methods[2].terms.context


def test_a_step_is_shortened_at_the_site_and_one_without_end_is_not_sent() -> None:
    step = torch.tensor([3.0, 4.0]).numpy()
    assert shortened(step, 10.0).tolist() == [3, 4]
    assert shortened(step, 2.5).tolist() == [1.5, 2]
    with pytest.raises(ProtocolError, match="FS6008"):
        shortened(torch.tensor([float("inf")]).numpy(), 1.0)


def test_a_clip_that_sums_could_exceed_is_refused() -> None:
    method = Masked(Drift(), replace(_terms(), clip=127.9999999))
    with pytest.raises(ConfigError, match="FS6003"):
        method.init({"x": torch.zeros(3)}, [c.info for c in _clients(4)])


def test_sites_that_come_later_cannot_make_a_sum_run_over() -> None:
    """With noise every site may add `clip`: there is room for four, and not for six."""
    terms = replace(_terms(), clip=25.0, noise=0.01)
    method, clients = Masked(Drift(), terms), _clients(6)
    gate = Gate(statistics=method.statistics, sees_models=False)
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    with InProcess(method, clients) as engine:
        state = method.init(weights, [c.info for c in clients[:4]], 7)
        (done,) = run(method, engine, state, 1, gate)
    assert done.skipped
    codes = [notice.code for notice in done.notices]
    assert codes == ["FS5043", "FS5043", "FS6003"]  # two have come, and are too many


def test_under_noise_claims_are_made_of_counts_and_released_statistics_alone() -> None:
    told = Update(0, 0, {"x": torch.ones(3)}, 5, 9, num_pseudo=2, metrics={"loss": 1.0})
    left = public(told)
    assert (left.weights, left.metrics, left.findings) == ({}, {}, None)
    assert (left.num_labeled, left.num_unlabeled, left.num_pseudo) == (5, 9, 9)


def test_a_site_sums_no_step_of_an_older_session() -> None:
    method, client = Masked(Drift(), _terms()), _clients(3)[2]
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    state = method.init(weights, [c.info for c in _clients(3)], 7)
    (*_, task) = method.plan(state)
    _, old = method.train(task, client, {})
    (*_, later) = method.plan(replace(state, round=1))
    _, new = method.train(later, client, old)
    # A coordinator that rewinds the memory, but not the vault, which is on disk.
    mixed = {**new, "masked.session": old["masked.session"]}
    letter = {"letter": torch.zeros(2, dtype=torch.uint8)}
    ask = replace(later, group=NAMES.index("claims"), broadcast=letter)
    with pytest.raises(ProtocolError, match=r"FS6005.*memory"):
        method.train(ask, client, mixed)


def test_a_session_is_bound_to_the_model_and_to_all_that_came_with_it() -> None:
    """Sites that were told different things would mask what does not cancel."""
    method, (client, *_) = Masked(Drift(), _terms()), _clients(3)
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    state = method.init(weights, [c.info for c in _clients(3)], 7)
    (task, *_) = method.plan(state)
    site = method.at(Unsigned(), HeldVault())
    site.train(task, client, {})
    for changed in (
        replace(task, weights={**weights, "x": torch.ones(3)}),
        replace(task, broadcast={**task.broadcast, "more": torch.zeros(1)}),
    ):
        with pytest.raises(ProtocolError, match=r"FS6005.*another model"):
            site.train(changed, client, {})
    site.train(task, client, {})


def _before_the_model(num: int = 4, keys: Mapping[int, Any] | None = None):
    """Go on until the claims are opened; return how site 3 is told another sum.

    For that the claims of site 0 are changed on their way.
    """
    method, clients = Masked(Drift(), _terms()), _clients(num)
    who = keys or dict.fromkeys(range(num), Unsigned())
    sites = [method.at(who[c.id], HeldVault()) for c in clients]
    memories: list[Any] = [{} for _ in clients]
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    state = method.init(weights, [c.info for c in clients], 7)
    for _ in range(NAMES.index("model")):
        updates = []
        for task in method.plan(state):
            id = task.client
            update, memories[id] = sites[id].train(task, clients[id], memories[id])
            updates.append(update)
        state = method.aggregate(state, updates)
    (*_, task) = method.plan(state)

    account = read(Account, task.broadcast[LETTER])
    honest = np.frombuffer(account.claims[0].numbers, np.uint64)

    def told(total: float) -> str:
        more = honest + to_fixed(np.array([total - 10]), "claims")
        lie = account.claims[0].model_copy(update={"numbers": more.tobytes()})
        forged = account.model_copy(update={"claims": {**account.claims, 0: lie}})
        asked = replace(task, broadcast={LETTER: as_tensor(forged)})
        return refused(sites[3].train, asked, clients[3], memories[3])

    return told


def test_no_search_with_sums_of_claims_finds_what_a_site_claims() -> None:
    """Site 3 has four labels: it must not say which sums are below that."""
    told = _before_the_model()
    assert told(10.0) == ""
    assert [told(each) for each in (3.0, 5.0, 10.0)] == ["FS6005", "FS6005", ""]
    lied_to = _before_the_model()
    assert lied_to(3.0) == "FS6009"
    assert [lied_to(each) for each in (3.5, 5.0, 10.0)] == ["FS6005"] * 3


def test_no_server_tells_sites_that_sign_another_sum_than_theirs() -> None:
    """With a sum of 1e6 the steps of all but a chosen one would be nothing."""
    for total, code in ((10.0, ""), (1e6, "FS6030"), (10.5, "FS6030")):
        assert _before_the_model(keys=enrolled(range(4)))(total) == code


def test_fewer_than_three_sites_with_unlabeled_images_are_refused_at_once() -> None:
    content = _content("fedavg-semi", PLAIN_WARM_UP)
    content["partition"] = {"num_clients": 3}
    with pytest.raises(ConfigError, match=r"FS6032 fedavg-semi.*2 of 3.*3 are needed"):
        run_simulation(build(make_experiment(content)))
    content["stages"][1]["method"] = "fedavg"  # sums no claims of theirs apart
    run_simulation(build(make_experiment(content)))


def test_a_state_between_rounds_is_saved_and_read_again() -> None:
    (done,), *_ = _played({}, rounds=1)
    tensors: dict[str, torch.Tensor] = {}
    tree = encode(done.state, tensors)
    again = decode(tree, tensors, done.state)
    assert again.session is None
    assert again.step == 0
    assert digest(again.weights) == digest(done.state.weights)


def test_what_a_labeled_site_finds_still_judges_the_model_that_went_out() -> None:
    method = Masked(Drift(), _terms())
    seen: list[Update] = []
    evidence = Evidence(held_out=lambda updates: seen.extend(updates))
    guard = Guard(enabled=True, sees_steps=False)
    gate = Gate(guard, method.statistics, evidence=evidence, sees_models=False)
    infos = [ClientInfo(0, 5, 0), ClientInfo(1, 0, 9)]
    weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
    tasks = [Task(i, 0, weights) for i in (0, 1)]
    told = {"claims": as_tensor(Claimed(numbers=bytes(8), signature=b""))}
    answers = [Update(i, 0, {}, 0, 0, statistics=told) for i in (0, 1)]
    check = gate.check(tasks, answers, infos, gate_state())
    # The site's counts are those of the register, without which it could not judge.
    assert [(update.client, update.num_labeled) for update in seen] == [(0, 5)]
    assert check.notices == ()
