from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from fedsemi.client.findings import sizes_of
from fedsemi.client.wire import check_declared, expected_fields, fields_of
from fedsemi.data.augment import Views
from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY, Findings, Task, Update
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.semifl import SemiFL
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup

_SETUP = Setup(ModelSpec("resnet8", 3, width=2), Views(8, 10, (0.5,), (0.2,)))
_WEIGHTS = {"w": torch.zeros(2, 3), "n": torch.tensor(1)}
_TASK = Task(0, 0, _WEIGHTS)


def _found(classes: int = 3) -> Findings:
    sizes = sizes_of(classes)
    return Findings(**{name: (1.0,) * size for name, size in sizes.items()})


def _update(**changes: object) -> Update:
    return Update(
        0, 0, **{"weights": _WEIGHTS, **changes}, num_labeled=1, num_unlabeled=2
    )


def test_what_is_declared_may_leave():
    sent = _update(
        statistics={DIVERSITY: torch.zeros(3)},
        metrics={"loss": 1.0},
        findings=_found(),
    )
    check_declared(SemiAnAgg(_SETUP), _TASK, sent, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"statistics": {"mean_image": torch.zeros(3)}},
        {"metrics": {"patient": 4.0}},
        {"metrics": {"held_out_loss_0": 1.0}},
        {"findings": _found(classes=4)},  # there are three
        {"findings": replace(_found(), loss=(float("inf"),))},
        {"findings": replace(_found(), loss=(1.0, 4711.0))},
        {"metrics": {"loss": float("nan")}},
        {"weights": {**_WEIGHTS, "extra": torch.zeros(1)}},
        {"weights": {"w": _WEIGHTS["w"]}},
        {"weights": {**_WEIGHTS, "w": torch.zeros(3, 2)}},
        {"weights": {**_WEIGHTS, "w": torch.zeros(2, 3).double()}},
    ],
)
def test_what_is_not_declared_stays(changes):
    with pytest.raises(ProtocolError, match="FS2120"):
        check_declared(SemiAnAgg(_SETUP), _TASK, _update(**changes), 3)


def test_a_method_without_statistics_may_not_send_diversity():
    sent = _update(statistics={DIVERSITY: torch.zeros(3)})
    with pytest.raises(ProtocolError, match="'diversity'"):
        check_declared(SupervisedFedAvg(_SETUP), _TASK, sent, 3)


def test_every_field_is_listed_with_its_size():
    sent = _update(statistics={DIVERSITY: torch.zeros(3)}, metrics={"loss": 1.0})
    sizes = {field.name: field.num_bytes for field in fields_of(sent)}
    assert sizes["weights"] == 6 * 4 + 8
    assert sizes["statistics.diversity"] == 12
    assert sizes["metrics.loss"] == sizes["num_pseudo"] == 8
    assert not any(name.startswith("findings") for name in sizes)


def test_findings_are_listed_field_by_field_and_explained():
    listed = {each.name: each for each in fields_of(_update(findings=_found()))}
    found = {name for name in listed if name.startswith("findings.")}
    assert found == {f"findings.{name}" for name in sizes_of(3)}
    assert listed["findings.class_count"].num_bytes == 3 * 8
    assert all(listed[name].meaning for name in found)


def test_what_is_measured_beside_learning_is_listed_by_itself():
    weights = _SETUP.model.build(0).state_dict()
    fields = {
        kind: {f.name: f for f in expected_fields(method, weights, 3, False)}
        for kind in ("averaged", "static")
        for method in [SemiFL(_SETUP, batch_norm=kind)]
    }
    assert "measured" not in fields["averaged"]
    # Mean and variance of 42 channels behind nine batch norms, four bytes each.
    listed = fields["static"]["measured"]
    assert (listed.kind, listed.num_bytes) == ("84 numbers in 18 tensors", 336)
    assert listed.name != fields["static"]["weights"].name
