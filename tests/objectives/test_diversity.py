from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from fedsemi.contributions import diversity_weights
from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY
from fedsemi.models import ModelSpec
from fedsemi.objectives.diversity import (
    AnchorDiversity,
    _made,
    checked_anchor,
    make_anchor,
)
from fedsemi.objectives.workbench import Workbench

Make = Callable[..., Workbench]


def probe_on(bench: Workbench, seed: int = 0) -> AnchorDiversity:
    probe = AnchorDiversity(bench, make_anchor(bench.setup.model, seed)[0])
    probe.prepare()
    probe.start_round()
    return probe


def test_diversity_by_hand(make_bench: Make) -> None:
    probe = probe_on(make_bench(unlabeled=4))
    d = probe.anchor_feature.shape[1]
    e1, e2 = torch.eye(d)[0], torch.eye(d)[1]
    probe.anchor_feature.copy_(torch.stack([e1, e1, e1, e2]))
    feature = torch.stack([2 * e1, e1 + e2, 3 * e2])

    probe(feature, torch.tensor([0, 0, 2]), torch.tensor([0, 1, 3]))

    # Class 0: cosines 1 and 1/sqrt 2. Class 2: cosine 1. Classes 1 and 3: absent.
    expected = [1 - (1 + 0.5**0.5) / 2, 0.0, 0.0, 0.0]
    found = probe.statistics()[DIVERSITY].tolist()
    assert found == pytest.approx(expected, abs=1e-6)


def test_running_sums_do_not_depend_on_how_samples_are_batched(
    make_bench: Make,
) -> None:
    whole, parts = (probe_on(make_bench(unlabeled=6)) for _ in range(2))
    feature = torch.rand(6, whole.anchor_feature.shape[1])
    label, index = torch.tensor([0, 1, 1, 2, 0, 0]), torch.arange(6)

    whole(feature, label, index)
    for part in (slice(0, 2), slice(2, 6)):
        parts(feature[part], label[part], index[part])

    a, b = whole.statistics()[DIVERSITY], parts.statistics()[DIVERSITY]
    assert torch.allclose(a, b, atol=1e-7)


def test_anchor_features_are_memory_and_sums_are_not(make_bench: Make) -> None:
    probe = probe_on(make_bench(unlabeled=3))
    assert list(probe.state_dict()) == ["anchor_feature"]


def test_anchor_features_are_unit_vectors_of_the_clean_view(make_bench: Make) -> None:
    bench = make_bench(unlabeled=3)
    anchor, _ = make_anchor(bench.setup.model, 0)
    probe = probe_on(bench)
    clean = bench.clean(bench.client.unlabeled_images)
    expected = F.normalize(anchor(clean).feature)
    assert torch.allclose(probe.anchor_feature.float(), expected, atol=1e-3)


def test_half_precision_moves_no_contribution_by_more_than_a_thousandth(
    make_bench: Make,
) -> None:
    rows: dict[bool, list[torch.Tensor]] = {True: [], False: []}
    generator = torch.Generator().manual_seed(0)
    for client in range(5):
        bench = make_bench(unlabeled=20 + client)
        size = bench.client.num_unlabeled
        anchor, _ = make_anchor(bench.setup.model, 0)
        feature = torch.rand(size, anchor.num_features, generator=generator)
        label = torch.randint(4, (size,), generator=generator)
        for half in (True, False):
            probe = AnchorDiversity(bench, anchor)
            if not half:
                probe.anchor_feature = probe.anchor_feature.float()
            exact = F.normalize(anchor(bench.clean(bench.client.unlabeled_images))[0])
            probe.anchor_feature.copy_(exact)
            probe(feature, label, torch.arange(size))
            rows[half].append(probe.statistics()[DIVERSITY].double())
    for rule in ("paper", "released"):
        halves, exact = (diversity_weights(torch.stack(rows[h]), rule) for h in rows)
        assert (halves - exact).abs().max() < 1e-3


def test_the_dictionary_takes_half_of_what_the_paper_reports(make_bench: Make) -> None:
    # The paper: 484 samples of 512 numbers are 968 KiB, in single precision.
    probe = probe_on(make_bench(unlabeled=484))
    features = probe.anchor_feature.shape[1]
    assert probe.metrics()["anchor_bytes"] * 512 / features == 968 * 1024 / 2


def test_the_same_seed_gives_the_same_anchor_everywhere() -> None:
    spec = ModelSpec("resnet8", 4, width=4)
    _made.cache_clear()
    first = make_anchor(spec, 7)[1]
    _made.cache_clear()
    assert make_anchor(spec, 7)[1] == first != make_anchor(spec, 8)[1]


def test_a_client_refuses_another_anchor_than_the_announced() -> None:
    spec = ModelSpec("resnet8", 4, width=4)
    announced = make_anchor(spec, 7)[1]
    checked_anchor(spec, 7, announced)
    with pytest.raises(ProtocolError, match="seed 8 gives the anchor"):
        checked_anchor(spec, 8, announced)
