import math

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.data.ssl_views import ORCHESTRA, first_view
from fedsemi.messages import CENTROIDS
from fedsemi.objectives.clustering import Sinkhorn
from fedsemi.objectives.online_head import OnlineHead
from fedsemi.objectives.orchestra import (
    PROJECTOR,
    ROTATION,
    TARGET,
    LocalClusters,
    Orchestra,
    agreement,
    orchestra_parts,
    rotated,
)
from fedsemi.objectives.workbench import Workbench
from fedsemi.seeds import Streams

WIDTH = 5


def _parts(model):
    return orchestra_parts(WIDTH, model)


@pytest.fixture
def student(tiny_setup):
    weights = tiny_setup.model.build(0).state_dict()
    torch.manual_seed(0)
    return tiny_setup.load(
        {**weights, **tiny_setup.first_parts(weights, _parts)}, _parts
    )


@pytest.fixture
def make_objective(tiny_setup, make_client):
    def make(images: int, memory_size: int = 6) -> Orchestra:
        bench = Workbench(make_client(0, 0, images), tiny_setup, Streams(1))
        return Orchestra(
            bench,
            OnlineHead(torch.empty(0, dtype=torch.long)),
            torch.eye(WIDTH)[:3],
            LocalClusters(2, Sinkhorn(), 5),
            memory_size=memory_size,
            temperature=0.1,
            rotation_weight=1.0,
            target_keep=0.75,
        )

    return make


def test_agreement_by_hand():
    # The target is sure of 3 : 1, the model undecided: the loss is log 2.
    target = torch.tensor([[0.1 * math.log(3), 0.0]])
    assert float(agreement(target, torch.zeros(1, 2), 0.1)) == pytest.approx(
        math.log(2)
    )
    own = float(agreement(target, target, 0.1))
    assert own == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))


def test_images_are_turned_by_right_angles():
    image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]).repeat(3, 1, 1, 1)
    turned = rotated(image, torch.tensor([0, 1, 2]))
    assert turned[:, 0].tolist() == [
        [[1, 2], [3, 4]],
        [[2, 4], [1, 3]],
        [[4, 3], [2, 1]],
    ]


def test_the_projector_has_no_biases_and_ends_in_a_plain_batch_norm(tiny_setup):
    parts = orchestra_parts(WIDTH, tiny_setup.model.build(0))
    features = tiny_setup.model.build(0).num_features
    shapes = {k: tuple(v.shape) for k, v in parts[PROJECTOR].named_parameters()}
    assert shapes == {
        "0.weight": (WIDTH, features),  # linear
        "1.weight": (WIDTH,),  # batch norm, the only layer that scales and shifts
        "1.bias": (WIDTH,),
        "3.weight": (WIDTH, WIDTH),  # linear, behind ReLU
    }
    last = parts[PROJECTOR][-1]
    assert isinstance(last, torch.nn.BatchNorm1d) and not last.affine
    out = parts[PROJECTOR].train()(torch.randn(64, features))
    torch.testing.assert_close(out.mean(0), torch.zeros(WIDTH), rtol=0, atol=1e-5)
    torch.testing.assert_close(
        out.var(0, unbiased=False), torch.ones(WIDTH), rtol=0, atol=0.02
    )
    rotation = {k: tuple(v.shape) for k, v in parts[ROTATION].named_parameters()}
    assert rotation == {"weight": (4, WIDTH), "bias": (4,)}


def _seen(student, objective):
    """Return the batches that the encoder sees in one step."""
    batches = []
    student.encoder.register_forward_pre_hook(lambda _, args: batches.append(*args))
    student.train()
    nothing = torch.empty(0, dtype=torch.long)
    objective(student, Batch(nothing, torch.arange(8)))
    return batches


def test_the_view_that_is_turned_is_a_self_supervised_one(
    student, make_objective, tiny_setup
):
    objective = make_objective(8)
    _, _, turned = _seen(student, objective)
    draw = Streams(1)["rotation"]
    turns = torch.randint(4, (8,), generator=draw)
    images = objective._bench.unlabeled(torch.arange(8))
    view = first_view(images, tiny_setup.views, draw, ORCHESTRA)
    assert len(turns.unique()) > 1
    for image, shown, turn in zip(view, turned, turns, strict=True):
        back = shown
        for _ in range(turn):  # a quarter clockwise each: columns become rows, mirrored
            back = back.transpose(1, 2).flip(2)
        assert torch.equal(back, image)


def test_memory_is_filled_in_batches_and_leaves_batch_norm_alone(
    student, make_objective
):
    before = {k: v.clone() for k, v in student.state_dict().items()}
    objective = make_objective(8)
    objective.start_epoch(student.eval())
    assert all(torch.equal(v, before[k]) for k, v in student.state_dict().items())
    torch.testing.assert_close(objective.memory.norm(dim=1), torch.ones(6))
    # The last batch norm centers what it puts out, before rows get length one; with
    # the running statistics of a new network, it would leave everything as it is.
    again = make_objective(8)
    target = student.get_submodule(TARGET)
    target[1][-1].running_mean.fill_(100.0)
    again.start_epoch(student.eval())
    assert torch.equal(objective.memory, again.memory)


def test_the_target_begins_as_a_copy_and_follows(student, make_objective):
    target, encoder = student.get_submodule(TARGET), student.encoder
    mine = next(target.parameters())
    assert torch.equal(mine, next(encoder.parameters()))
    with torch.no_grad():
        mine.zero_()
    make_objective(8).follow(student)
    torch.testing.assert_close(mine, 0.25 * next(encoder.parameters()))


def test_no_gradient_reaches_the_target(student, make_objective):
    objective = make_objective(8)
    student.train()
    batch = Batch(torch.empty(0, dtype=torch.long), torch.arange(8))
    objective(student, batch).backward()
    assert all(p.grad is None for p in student.get_submodule(TARGET).parameters())
    parts = [student.encoder, student.get_submodule(PROJECTOR)]
    assert all(p.grad is not None for part in parts for p in part.parameters())


def test_memory_drops_the_oldest(make_objective):
    objective = make_objective(8, memory_size=3)
    rows = torch.arange(1.0, 6)[:, None].repeat(1, WIDTH)
    objective.remember(rows[:2])
    objective.remember(rows[2:4])
    assert objective.memory[:, 0].tolist() == [2, 3, 4]
    objective.remember(rows)
    assert objective.memory[:, 0].tolist() == [3, 4, 5]


@pytest.mark.parametrize("images", [0, 1])
def test_fewer_images_than_centroids_send_zeros(student, make_objective, images):
    objective = make_objective(images)
    objective.start_epoch(student.eval())
    assert len(objective.memory) == images
    assert not objective.statistics()[CENTROIDS].any()


def test_sent_centroids_have_length_one(student, make_objective):
    objective = make_objective(8)
    objective.start_epoch(student.eval())
    centroids = objective.statistics()[CENTROIDS].view(2, WIDTH)
    torch.testing.assert_close(centroids.norm(dim=1), torch.ones(2))
