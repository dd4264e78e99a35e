"""Static batch norm: the statistics of all images, without an image leaving."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from fedsemi.client.wire import check_declared
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo, Task, Update
from fedsemi.methods.semifl import SemiFL
from fedsemi.methods.static_norm import can_measure, measured, pooled, statistics_in
from fedsemi.models import ModelSpec


def seen_by_layers(setup, weights, clients):
    """Pass each client as one batch in training mode; keep what batch norms get."""
    model, found = setup.load(weights).train(), {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.BatchNorm2d):
            found[name] = []
            layer.register_forward_pre_hook(
                lambda _, inputs, kept=found[name]: kept.append(inputs[0].double())
            )
    with torch.no_grad():
        for client in clients:
            images = torch.cat([client.labeled_images, client.unlabeled_images])
            model(setup.views.clean(images))
    return {name: torch.cat(parts) for name, parts in found.items()}


def test_statistics_are_those_of_the_pooled_data(tiny_setup, make_client):
    clients = [make_client(0, 9, 0), make_client(1, 0, 14), make_client(2, 3, 6)]
    weights = tiny_setup.model.build(0).state_dict()
    tasks = [Task(client.id, 0, weights) for client in clients]
    updates = [measured(t, c, tiny_setup) for t, c in zip(tasks, clients, strict=True)]
    joined = pooled(updates)
    seen = seen_by_layers(tiny_setup, weights, clients)
    assert joined.keys() == statistics_in(tiny_setup, weights).keys()
    for name, inputs in seen.items():
        mean, var = joined[f"{name}.running_mean"], joined[f"{name}.running_var"]
        torch.testing.assert_close(mean.double(), inputs.mean((0, 2, 3)))
        expected = inputs.var((0, 2, 3), unbiased=False)
        torch.testing.assert_close(var.double(), expected, rtol=1e-5, atol=1e-7)


def test_the_order_of_clients_and_who_has_which_image_do_not_matter_to_the_first_layer(
    tiny_setup, make_client
):
    whole = make_client(0, 0, 20)
    images = whole.unlabeled_images
    halves = [replace(whole, unlabeled_images=images[i::2]) for i in (0, 1)]
    weights = tiny_setup.model.build(0).state_dict()
    task = Task(0, 0, weights)
    one = measured(task, whole, tiny_setup).weights
    two = pooled([measured(task, half, tiny_setup) for half in halves])
    first = next(iter(one)).removesuffix(".running_mean")
    for kind in ("running_mean", "running_var"):
        torch.testing.assert_close(two[f"{first}.{kind}"], one[f"{first}.{kind}"])


def test_two_clients_worked_by_hand():
    def sent(id, images, mean, variance):
        weights = {
            "bn.running_mean": torch.tensor([mean]),
            "bn.running_var": torch.tensor([variance]),
        }
        return Update(id, 0, weights, num_labeled=0, num_unlabeled=images)

    # Values 1 and 3 at one client, 2, 4 and 6 at the other: means 2 and 4, variances
    # 1 and 8/3. All five: mean 16/5, variance (1 + 9 + 4 + 16 + 36)/5 - (16/5)².
    found = pooled([sent(1, 2, 2.0, 1.0), sent(2, 3, 4.0, 8 / 3)])
    assert float(found["bn.running_mean"]) == pytest.approx(3.2)
    assert float(found["bn.running_var"]) == pytest.approx(13.2 - 10.24, rel=1e-6)
    assert pooled([]) == {}


def test_one_image_has_no_statistics_that_may_leave():
    assert not can_measure(ClientInfo(1, 0, 1)) and not can_measure(ClientInfo(1, 0, 0))
    assert can_measure(ClientInfo(1, 1, 1))


def test_many_images_pass_in_parts_and_none_of_them_alone(tiny_setup, make_client):
    client = make_client(1, 0, 251)
    weights = tiny_setup.model.build(0).state_dict()
    update = measured(Task(1, 0, weights), client, tiny_setup)
    halves = [
        replace(client, unlabeled_images=part)
        for part in torch.tensor_split(client.unlabeled_images, 2)
    ]
    together = pooled([measured(Task(1, 0, weights), h, tiny_setup) for h in halves])
    for name, value in update.weights.items():
        torch.testing.assert_close(value, together[name])


@pytest.fixture
def static(tiny_setup):
    return SemiFL(tiny_setup, cutoff=0.3, batch_norm="static")


def phase(method, state, clients):
    tasks = method.plan(state)
    updates = [method.train(task, clients[task.client], {})[0] for task in tasks]
    asked = [(task.client, task.group) for task in tasks]
    return asked, updates, method.aggregate(state, updates)


def test_everybody_measures_before_the_first_clients_and_at_the_end_of_a_round(
    static, make_client
):
    clients = [make_client(0, 9, 0), make_client(1, 0, 12), make_client(2, 0, 1)]
    weights = static.setup.model.build(0).state_dict()
    state = static.init(weights, [client.info for client in clients])
    groups = []
    while state.round == 0:
        asked, updates, state = phase(static, state, clients)
        groups.append(asked)
    # The server, all but the one with a lone image, clients, the server, all again.
    measuring = [(0, 3), (1, 3)], [(0, 4), (1, 4)]
    assert groups == [[(0, 2)], measuring[0], [(1, 0), (2, 0)], [(0, 1)], measuring[1]]
    assert all(group < static.questions for asked in groups for _, group in asked)
    assert updates[0].weights.keys() == statistics_in(static.setup, weights).keys()
    for name, value in pooled(updates).items():
        assert torch.equal(state.weights[name], value)
    assert set(state.contributions) == {1, 2}


def test_without_a_server_rounds_begin_and_end_with_statistics(static, make_client):
    clients = [make_client(0, 5, 8), make_client(1, 4, 6)]
    weights = static.setup.model.build(0).state_dict()
    state = static.init(weights, [client.info for client in clients])
    groups = []
    while state.round == 0:
        asked, _, state = phase(static, state, clients)
        groups.append({group for _, group in asked})
    assert groups == [{3}, {0}, {4}]


def test_what_training_finds_by_the_way_does_not_leave(static, make_client):
    client, server = make_client(1, 0, 12), make_client(0, 9, 0)
    weights = static.setup.model.build(0).state_dict()
    for task, site in (
        (Task(1, 0, weights), client),
        (Task(0, 0, weights, {}, 1), server),
    ):
        update, _ = static.train(task, site, {})
        for name, value in statistics_in(static.setup, weights).items():
            assert torch.equal(update.weights[name], value)
        assert not torch.equal(update.weights["head.weight"], weights["head.weight"])


def test_a_site_that_measures_may_send_nothing_but_statistics(static, make_client):
    client = make_client(1, 0, 12)
    task = Task(1, 0, static.setup.model.build(0).state_dict(), group=4)
    update, memory = static.train(task, client, {"kept": torch.ones(1)})
    check_declared(static, task, update, 3)
    assert not update.metrics and not update.statistics and memory.keys() == {"kept"}
    whole = replace(update, weights={**task.weights, **update.weights})
    with pytest.raises(ProtocolError, match="FS2120"):
        check_declared(static, task, whole, 3)


def test_a_network_without_batch_norm_has_nothing_to_measure(
    tiny_setup, make_client, play
):
    plain = replace(tiny_setup, model=ModelSpec("simple-cnn", 3, image_size=32))
    plain = replace(plain, views=replace(plain.views, size=32, pre=40))
    clients = [make_client(0, 9, 0), make_client(1, 0, 12)]
    states = [
        play(SemiFL(plain, cutoff=0.3, batch_norm=kind), clients, rounds=1)[0]
        for kind in ("averaged", "static")
    ]
    for name, value in states[0].weights.items():
        assert torch.equal(value, states[1].weights[name])
