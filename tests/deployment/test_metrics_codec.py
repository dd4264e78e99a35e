"""Numbers of a site are read by name and size, or refused in one line."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, MetricRecord

from fedsemi.client.wire import Declared
from fedsemi.deployment.metrics_codec import (
    decode_findings,
    decode_metrics,
    encode_findings,
    encode_metrics,
)
from fedsemi.errors import ProtocolError
from fedsemi.messages import Findings

SIZES = {"loss": 1, "class_count": 2, "class_right": 2}
SIZES |= {"bin_count": 3, "bin_right": 3, "bin_gap": 3}
DECLARED = Declared(frozenset({"loss"}), SIZES)
FOUND = Findings((0.5,), (3, 1), (2, 0), (0, 1, 3), (0, 0, 2), (0.0, -0.25, 0.125))


def test_findings_come_back_as_they_went():
    assert decode_findings(encode_findings(FOUND), DECLARED) == FOUND


def test_a_site_without_held_out_images_sends_an_empty_record():
    assert len(encode_findings(None)) == 0
    assert decode_findings(encode_findings(None), DECLARED) is None


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"patients": [1.0]}, "FS2120 the findings 'patients' are undeclared"),
        ({"class_count": [1.0]}, "FS2120 .*'class_count' are 1 numbers, not 2"),
        ({"bin_gap": [0.0] * 10**5}, "FS2120 .*'bin_gap' are 100000 numbers, not 3"),
        ({"loss": [math.nan]}, "FS2101 the findings 'loss' are no numbers"),
        ({"loss": [math.inf]}, "FS2101 the findings 'loss' are no numbers"),
        ({"loss": 1.0}, "FS2101 the findings 'loss' are no numbers"),
    ],
)
def test_findings_have_declared_names_and_sizes_and_are_finite(change, refusal):
    record = MetricRecord({**encode_findings(FOUND), **change})
    with pytest.raises(ProtocolError, match=refusal):
        decode_findings(record, DECLARED)


def test_findings_come_whole_or_not_at_all():
    record = encode_findings(FOUND)
    del record["bin_gap"]
    with pytest.raises(
        ProtocolError, match="FS2120 the findings 'bin_gap' are missing"
    ):
        decode_findings(record, DECLARED)
    with pytest.raises(ProtocolError, match="FS2101 findings are missing"):
        decode_findings(ConfigRecord(), DECLARED)


def test_findings_of_another_number_of_classes_are_refused():
    other = replace(FOUND, class_count=(1, 1, 2), class_right=(0, 0, 1))
    with pytest.raises(ProtocolError, match="3 numbers, not 2"):
        decode_findings(encode_findings(other), DECLARED)


def test_metrics_have_declared_names_and_are_finite():
    assert decode_metrics(encode_metrics({"loss": 1.5}), DECLARED) == {"loss": 1.5}
    with pytest.raises(ProtocolError, match="FS2120 the metric 'held_out_loss_0'"):
        decode_metrics(MetricRecord({"held_out_loss_0": 1.0}), DECLARED)
    with pytest.raises(ProtocolError, match="FS2101 the metric 'loss' is no number"):
        decode_metrics(MetricRecord({"loss": math.nan}), DECLARED)
