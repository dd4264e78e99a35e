from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.cli.probe import Which, probe
from fedsemi.errors import StorageError


@pytest.mark.parametrize("labels", list(Which))
def test_probe_says_whose_labels_it_used(
    real_run: Path, labels: Which, capsys: pytest.CaptureFixture[str]
) -> None:
    probe(real_run, labels)
    header, row = capsys.readouterr().out.strip().splitlines()
    assert header.split() == [
        "labels",
        "epoch",
        "held",
        "out",
        "accuracy",
        "B-Acc",
        "AUC",
    ]
    which, count, _, *scores = row.split()
    assert which == f"{labels.value}," and int(count) > 0
    assert all(0 <= float(score.rstrip("%")) <= 100 for score in scores)


def test_all_clients_have_more_labels_than_the_labeled_one(
    real_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = []
    for labels in Which:
        probe(real_run, labels)
        counts.append(int(capsys.readouterr().out.splitlines()[1].split()[1]))
    assert counts[0] > counts[1]


def test_a_folder_without_a_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not the folder of a run") as caught:
        probe(tmp_path)
    assert "\n" not in str(caught.value)
