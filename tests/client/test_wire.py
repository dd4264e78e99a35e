from __future__ import annotations

import pytest
import torch

from fedsemi.client.wire import check_declared, fields_of
from fedsemi.data.augment import Views
from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY, Task, Update
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup

_SETUP = Setup(ModelSpec("resnet8", 3, width=2), Views(8, 10, (0.5,), (0.2,)))
_WEIGHTS = {"w": torch.zeros(2, 3), "n": torch.tensor(1)}
_TASK = Task(0, 0, _WEIGHTS)


def _update(**changes: object) -> Update:
    return Update(
        0, 0, **{"weights": _WEIGHTS, **changes}, num_labeled=1, num_unlabeled=2
    )


def test_what_is_declared_may_leave():
    sent = _update(statistics={DIVERSITY: torch.zeros(3)}, metrics={"loss": 1.0})
    check_declared(SemiAnAgg(_SETUP), _TASK, sent, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"statistics": {"mean_image": torch.zeros(3)}},
        {"metrics": {"patient": 4.0}},
        {"metrics": {"held_out_patient_4711": 1.0}},
        {"metrics": {"held_out_loss_0_patient": 1.0}},
        {"metrics": {"held_out_class_count_3": 1.0}},  # there are three classes
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
