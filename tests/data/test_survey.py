from pathlib import Path

import pytest

from fedsemi.data.survey import classes_and_slips, propose, survey
from fedsemi.errors import DataError

from .pictures import make_site


def table_site(root: Path, labels: list[str]) -> Path:
    make_site(root, {"": len(labels)})
    rows = "".join(f"{number}.png,{label}\n" for number, label in enumerate(labels))
    (root / "labels.csv").write_text(f"file,label\n{rows}")
    return root


def test_slips_of_order_and_of_case_are_no_classes(tmp_path: Path) -> None:
    a = survey(make_site(tmp_path / "a", {"one": 6, "two": 6}))
    b = survey(table_site(tmp_path / "b", ["one"] * 5 + ["two"] * 5 + ["tow", "ONE"]))
    counts, slips = classes_and_slips([a, b])
    assert counts == {"one": 11, "two": 11}
    assert slips == {"ONE": "one", "tow": "two"}


def test_name_like_another_is_a_class_if_it_is_not_rare(tmp_path: Path) -> None:
    a = survey(table_site(tmp_path / "a", ["normal"] * 100 + ["abnormal"] * 10))
    assert classes_and_slips([a]) == ({"abnormal": 10, "normal": 100}, {})


def test_of_names_that_differ_in_case_the_frequent_one_is_the_class(
    tmp_path: Path,
) -> None:
    a = survey(make_site(tmp_path / "a", {"Cat": 3, "dog": 3}))
    b = survey(make_site(tmp_path / "b", {"cat": 4, "dog": 4}))
    assert classes_and_slips([a, b]) == ({"cat": 4, "dog": 7}, {"Cat": "cat"})


def test_site_whose_only_sub_folder_is_a_class_to_nobody_is_unlabeled(
    tmp_path: Path,
) -> None:
    a = survey(make_site(tmp_path / "a", {"cat": 2, "dog": 2}))
    b = survey(make_site(tmp_path / "b", {"2024 x-rays": 5}))
    c = survey(make_site(tmp_path / "c", {"Cat": 1}))
    proposal = propose([a, b, c])
    assert proposal.unlabeled == (b,) and proposal.counts == {"cat": 2, "dog": 2}
    assert proposal.settings.labels == {"a": "folders", "b": "none", "c": "folders"}


def test_class_that_only_the_test_folder_shares_is_one(tmp_path: Path) -> None:
    a = survey(make_site(tmp_path / "a", {"cat": 2, "dog": 2, "eel": 2}))
    b = survey(make_site(tmp_path / "b", {"fox": 5}))
    test = survey(make_site(tmp_path / "t", {"cat": 1, "dog": 1, "fox": 1}))
    proposal = propose([a, b], test)
    assert proposal.settings.classes == ["cat", "dog", "eel", "fox"]
    assert not proposal.unlabeled and proposal.untested == {"eel": ["a"]}


def test_sites_of_one_class_each_are_labeled(tmp_path: Path) -> None:
    a = survey(make_site(tmp_path / "a", {"cat": 2}))
    b = survey(make_site(tmp_path / "b", {"dog": 2}))
    assert propose([a, b]).settings.classes == ["cat", "dog"]


def test_folder_of_sites_is_recognized(tmp_path: Path) -> None:
    make_site(tmp_path / "all" / "a", {"cat": 1, "dog": 1})
    make_site(tmp_path / "all" / "b", {"": 2})
    assert survey(tmp_path / "all").sites == ("a", "b")
    assert not survey(tmp_path / "all" / "a").sites
    table_site(tmp_path / "flat" / "c", ["cat", "dog"])
    assert survey(tmp_path / "flat").sites == ("c",)


def test_folders_named_after_dates_are_no_classes(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    b = make_site(tmp_path / "b", {"2021": 3, "2022-03": 3}, start=50)
    found = propose([survey(a), survey(b)])
    assert found.settings.classes == ["cat", "dog"]
    assert found.settings.labels == {"a": "folders", "b": "none"}
    assert [site.name for site in found.unlabeled] == ["b"]


def test_a_table_with_semicolons_is_read_and_strange_columns_are_named(
    tmp_path: Path,
) -> None:
    a = make_site(tmp_path / "a", {"": 2})
    (a / "labels.csv").write_text("file;label\n0.png;cat\n1.png;dog\n")
    assert survey(a).classes == {"cat": 1, "dog": 1}
    (a / "labels.csv").write_text("picture,diagnosis\n0.png,cat\n")
    with pytest.raises(DataError, match="'picture, diagnosis'"):
        survey(a)
