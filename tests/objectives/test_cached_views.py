"""Kept features: the same as computed, found again, and never stale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from fedsemi.data.client import Client
from fedsemi.models import ModelSpec
from fedsemi.models.encoders import EncoderSpec
from fedsemi.objectives import cached_views
from fedsemi.objectives.cached_views import Encoding, FeatureStore, store_of
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.seeds import Streams

BARE = ModelSpec("resnet8", 3, width=2, image_size=8)


@pytest.fixture
def frozen(setup: Setup, tmp_path) -> Setup:
    file = tmp_path / "e.safetensors"
    save_file(BARE.build(5).encoder.state_dict(), file)
    encoder = EncoderSpec(str(file), adapter=6, cached_views=3)
    model = replace(BARE, encoder=encoder).located()
    store_of.cache_clear()
    return replace(setup, model=model, features=tmp_path / "features")


@pytest.fixture
def pictures() -> torch.Tensor:
    draw = torch.Generator().manual_seed(2)
    return torch.randint(256, (9, 3, 8, 8), dtype=torch.uint8, generator=draw)


def store(setup: Setup) -> FeatureStore:
    """Open the store as another process would: knowing nothing."""
    assert setup.features is not None
    encoding = Encoding(setup.model, setup.views, setup.precision, setup.device)
    return FeatureStore(encoding, setup.features)


def count_computed(monkeypatch) -> list[int]:
    """Note how many pictures are shown to the encoder in each call."""
    calls: list[int] = []
    inner = FeatureStore._computed

    def counted(self, shown, images, names):
        calls.append(len(images))
        return inner(self, shown, images, names)

    monkeypatch.setattr(FeatureStore, "_computed", counted)
    return calls


def test_kept_features_are_those_of_the_clean_view(frozen, pictures):
    kept = frozen.seen.clean(frozen.shown(pictures))
    with torch.inference_mode():
        encoder = frozen.model.empty().encoder
        due = encoder.rows(frozen.views.clean(pictures))
    torch.testing.assert_close(kept, due, rtol=1e-3, atol=1e-3)  # halves


def test_weak_and_strong_views_are_drawn_among_the_kept_ones(frozen, pictures):
    names, draw = frozen.shown(pictures), torch.Generator().manual_seed(0)
    for kind in ("weak", "strong"):
        drawn = {
            tuple(getattr(frozen.seen, kind)(names, draw)[0].tolist())
            for _ in range(60)
        }
        assert len(drawn) == 3


def test_the_same_stream_draws_the_same_views(frozen, pictures):
    names = frozen.shown(pictures)
    one, two = (
        frozen.seen.weak(names, torch.Generator().manual_seed(4)) for _ in range(2)
    )
    assert torch.equal(one, two)


def test_a_picture_is_computed_once_whoever_asks_and_in_whatever_company(
    frozen, pictures, monkeypatch
):
    calls = count_computed(monkeypatch)
    first = store(frozen)
    due = first.rows("strong", first.names(pictures))
    assert calls == [9]
    again = store(frozen)
    found = again.rows("strong", again.names(pictures.flip(0)[2:5].clone()))
    assert calls == [9]
    assert torch.equal(found, due.flip(0)[2:5])
    # New pictures beside known ones: only they are computed.
    more = torch.cat([pictures[:4], 255 - pictures[:2]])
    again.rows("strong", again.names(more))
    assert calls == [9, 2]


def test_features_do_not_depend_on_the_order_in_which_they_were_computed(
    frozen, pictures, tmp_path
):
    other = replace(frozen, features=tmp_path / "elsewhere")
    one, two = store(frozen), store(other)
    due = one.rows("weak", one.names(pictures))
    for part in (pictures[5:].clone(), pictures[:5].clone()):
        two.rows("weak", two.names(part))
    assert torch.equal(two.rows("weak", two.names(pictures)), due)


def test_more_views_leave_those_that_are_there(frozen, pictures, monkeypatch):
    first = store(frozen)
    for view in range(3):
        first.rows("weak", first.names(pictures), torch.full((9,), view))
    calls = count_computed(monkeypatch)
    more = replace(frozen.model.encoder, cached_views=4)
    second = store(replace(frozen, model=replace(frozen.model, encoder=more)))
    second.rows("weak", second.names(pictures), torch.arange(9) % 4)
    assert calls == [9]  # the fourth view alone


@pytest.mark.parametrize("changed", ["encoder", "views", "precision"])
def test_another_encoder_or_other_views_never_find_old_features(
    frozen, pictures, changed, tmp_path
):
    first = store(frozen)
    first.rows("clean", first.names(pictures))
    if changed == "encoder":
        file = tmp_path / "other.safetensors"
        save_file(BARE.build(6).encoder.state_dict(), file)
        encoder = replace(frozen.model.encoder, weights=str(file), sha256=None)
        other = replace(frozen, model=replace(frozen.model, encoder=encoder).located())
    elif changed == "views":
        other = replace(frozen, views=replace(frozen.views, flip=False))
    else:
        other = replace(frozen, precision="bf16")
    assert store(other)._space != first._space
    adapter = replace(frozen.model, encoder=replace(frozen.model.encoder, adapter=9))
    assert store(replace(frozen, model=adapter))._space == first._space


def test_a_damaged_file_is_removed_and_computed_anew(frozen, pictures, monkeypatch):
    first = store(frozen)
    due = first.rows("clean", first.names(pictures))
    (path,) = first._space.iterdir()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    calls = count_computed(monkeypatch)
    again = store(frozen)
    assert torch.equal(again.rows("clean", again.names(pictures)), due)
    assert calls == [9]
    assert [each.name for each in again._space.iterdir()] == [path.name]


def test_large_sets_are_written_in_parts(frozen, pictures, monkeypatch):
    monkeypatch.setattr(cached_views, "_PART", 4)
    first = store(frozen)
    first.rows("clean", first.names(pictures))
    assert len(list(first._space.iterdir())) == 3


def test_a_workbench_of_a_part_of_a_client_finds_the_same_rows(frozen, pictures):
    client = Client(0, pictures[:4], torch.arange(4) % 3, pictures[4:])
    part = replace(client, unlabeled_images=client.unlabeled_images[[1, 3]])
    bench = Workbench(client, frozen, Streams(1))
    few = Workbench(part, frozen, Streams(1))
    assert torch.equal(
        few.clean(few.unlabeled(torch.arange(2))),
        bench.clean(bench.unlabeled(torch.tensor([1, 3]))),
    )
    images, labels = bench.labeled(torch.tensor([2]))
    assert torch.equal(
        bench.clean(images), frozen.seen.clean(frozen.shown(pictures))[2:3]
    )
    assert labels.tolist() == [2]


def test_pictures_themselves_are_still_seen_as_pictures(frozen, pictures):
    assert frozen.seen.clean(pictures).shape == (9, 3, 8, 8)
    bench = Workbench(
        Client(0, pictures[:0], torch.empty(0, dtype=torch.long), pictures),
        frozen,
        Streams(1),
    )
    assert torch.equal(bench.unlabeled_pixels(torch.arange(9)), pictures)


def test_without_a_cache_views_are_drawn_as_ever(frozen, pictures):
    encoder = replace(frozen.model.encoder, cached_views=0)
    fresh = replace(frozen, model=replace(frozen.model, encoder=encoder))
    assert fresh.shown(pictures) is pictures
    assert fresh.seen is fresh.views


def test_kept_rows_are_halves_of_what_was_computed(frozen, pictures):
    first = store(frozen)
    first.rows("clean", first.names(pictures))
    (path,) = first._space.iterdir()
    assert np.isfinite(cached_views.open_features(path).features).all()
    assert path.stat().st_size == 512 + 9 * (16 + 2 * 8)
