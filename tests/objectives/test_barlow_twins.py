import pytest
import torch

from fedsemi.objectives.barlow_twins import barlow_projector, redundancy
from fedsemi.objectives.online_head import OnlineHead, pooled


def test_loss_of_a_two_by_two_matrix_worked_by_hand():
    cross = torch.tensor([[0.5, 0.2], [-0.4, 1.0]])
    # diagonal (1 - .5)² + 0 = .25; off it .04 + .16 = .2, a tenth of that is .02
    assert float(redundancy(cross, 0.1)) == pytest.approx(0.27)


def test_the_identity_costs_nothing():
    assert float(redundancy(torch.eye(5), 0.0051)) == 0


def test_the_projector_ends_in_unit_variance_without_scale(tiny_setup):
    model = tiny_setup.model.build(0)
    projector = barlow_projector(6, model)["projector"]
    out = projector(torch.randn(50, model.num_features))
    assert torch.allclose(out.mean(0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(out.var(0, unbiased=False), torch.ones(6), atol=1e-2)
    assert len(list(projector.parameters())) == 3 + 2 * 2  # no affine at the end


def test_pooled_client_shows_images_but_no_label(make_client):
    client = make_client(0, 3, 4)
    everything = pooled(client)
    assert (everything.num_labeled, everything.num_unlabeled) == (0, 7)
    assert torch.equal(everything.unlabeled_images[:3], client.labeled_images)


def test_online_head_sends_no_gradient_to_the_features(tiny_setup):
    model = tiny_setup.model.build(0)
    features = [torch.randn(4, model.num_features, requires_grad=True)] * 2
    online = OnlineHead(torch.tensor([0, 2]))
    loss = online(model, features, torch.tensor([5, 1, 0, 9]))
    loss.backward()
    assert features[0].grad is None
    assert model.head.weight.grad is not None
    assert 0 <= online.metrics()["online_accuracy"] <= 1


def test_online_head_without_labels_adds_nothing(tiny_setup):
    online = OnlineHead(torch.empty(0, dtype=torch.long))
    loss = online(tiny_setup.model.build(0), [torch.randn(2, 8)], torch.tensor([0, 1]))
    assert float(loss) == 0 and online.metrics() == {}
