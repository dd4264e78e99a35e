"""Test images of folders, with what their tables say."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedsemi.data.folder import read_site
from fedsemi.data.tested import tested as images_of

from .pictures import save_picture
from .test_folder import wish


def site(root: Path, lines: list[str], start: int) -> Path:
    for number, line in enumerate(lines[1:]):
        save_picture(root / line.split(",")[0], start + number)
    (root / "labels.csv").write_text("\n".join(lines) + "\n")
    return root


def test_columns_and_patients_of_several_tables_are_joined(tmp_path: Path) -> None:
    head = "file,label,group,sex"
    a = site(tmp_path / "a", [head, "1.png,cat,P1,f", "2.png,dog,P1,m"], 10)
    b = site(tmp_path / "b", ["file,label,age", "1.png,cat,50", "2.png,cat,"], 90)
    parts = [read_site(each, wish(a, b), 8) for each in (a, b)]
    found = images_of([(each, np.ones(len(each), dtype=bool)) for each in parts])
    assert found.sites == ("a", "a", "b", "b")
    assert found.columns["sex"] == ("f", "m", "", "")
    assert found.columns["age"] == ("", "", "50", "")
    first, second, third, fourth = found.groups.tolist()
    assert first == second and len({first, third, fourth}) == 3
    assert len(found.digests) == 4


def test_without_named_patients_there_are_no_groups(tmp_path: Path) -> None:
    a = site(tmp_path / "a", ["file,label", "1.png,cat", "2.png,dog"], 10)
    part = read_site(a, wish(a), 8)
    assert images_of([(part, np.array([True, False]))]).groups is None
