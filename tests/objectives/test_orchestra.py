import math

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.local import Workbench
from fedsemi.messages import CENTROIDS
from fedsemi.objectives.clustering import Sinkhorn
from fedsemi.objectives.online_head import OnlineHead
from fedsemi.objectives.orchestra import (
    PROJECTOR,
    TARGET,
    LocalClusters,
    Orchestra,
    agreement,
    orchestra_parts,
    rotated,
)
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


def test_the_target_begins_as_a_copy_and_follows(student, make_objective):
    target, encoder = student.get_submodule(TARGET), student.encoder
    mine = next(target.parameters())
    assert torch.equal(mine, next(encoder.parameters()))
    with torch.no_grad():
        mine.zero_()
    make_objective(8).after_step(student)
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
