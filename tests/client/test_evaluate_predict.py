"""Predictions are made in eval mode, batch by batch, and change nothing."""

import pytest
import torch
from torch import nn

from fedsemi.client.evaluate import predict
from fedsemi.models import Classifier, ModelSpec


class UnitView:
    """Scales uint8 to [0, 1] and remembers the batches it was asked for."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def clean(self, images: torch.Tensor) -> torch.Tensor:
        assert images.dtype == torch.uint8
        self.sizes.append(len(images))
        return images.float() / 255


def random_images(count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (count, 1, 8, 8), dtype=torch.uint8, generator=generator)


@pytest.fixture
def model() -> Classifier:
    return ModelSpec("resnet8", num_classes=3, in_channels=1, width=4).build(0)


def test_predictions_are_the_softmax_of_the_clean_view_in_eval_mode(model):
    images = random_images(5)

    probs = predict(model, images, UnitView())

    expected = model.eval()(images.float() / 255).logits.softmax(dim=1)
    torch.testing.assert_close(probs, expected.detach())
    torch.testing.assert_close(probs.sum(dim=1), torch.ones(5))


def test_batches_cover_all_images_and_do_not_matter(model):
    images, views = random_images(7), UnitView()

    in_threes = predict(model, images, views, batch_size=3)

    assert views.sizes == [3, 3, 1]
    torch.testing.assert_close(in_threes, predict(model, images, views))


def test_threads_change_neither_bits_nor_order(model):
    images = random_images(50)
    alone = predict(model, images, UnitView(), batch_size=8)
    together = predict(model, images, UnitView(), batch_size=8, threads=3)
    assert torch.equal(together, alone)


def test_no_images_give_no_predictions(model):
    assert predict(model, random_images(0), UnitView()).shape == (0, 3)


def test_prediction_changes_no_state_of_the_model(model):
    before = {key: value.clone() for key, value in model.state_dict().items()}

    predict(model, random_images(4), UnitView())

    after = model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_training_mode_is_restored_part_by_part(model):
    model.train()
    model.encoder.stem.eval()

    predict(model, random_images(2), UnitView())

    assert model.training
    assert model.head.training
    assert not model.encoder.stem.training


def test_training_mode_is_restored_after_a_failure(model):
    model.train()

    with pytest.raises(RuntimeError):
        predict(model, random_images(2).expand(-1, 2, -1, -1), UnitView())

    assert model.training


def test_eval_mode_stays_eval_mode(model):
    model.eval()

    predict(model, random_images(2), UnitView())

    assert not any(module.training for module in model.modules())


def test_predictions_can_be_targets_of_a_loss(model):
    probs = predict(model, random_images(2), UnitView())
    logits = torch.zeros(2, 3, requires_grad=True)

    nn.functional.cross_entropy(logits, probs).backward()

    assert not probs.is_inference()
    assert logits.grad is not None
