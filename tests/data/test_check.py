import shutil
from pathlib import Path

import pytest

from fedsemi.data.check import check, duplicates

from .pictures import make_site, save_picture
from .test_folder import wish


def texts(report: object, stops: bool) -> list[str]:
    return [f.text for f in report.findings if f.stops is stops]  # type: ignore[attr-defined]


def test_good_folders_have_no_findings(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 7, "dog": 7})
    report = check(wish(a), 8)
    assert not report.findings and report.megabytes == pytest.approx(
        2 * 14 * 100 / 2**20
    )


def test_a_class_of_which_hardly_any_image_is_labeled_is_named(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 7, "dog": 3})
    (found,) = check(wish(a), 8).findings
    assert found.text.startswith("FS3406 labeled images of 'dog' to learn from: ")
    assert not found.stops


def test_too_many_bad_files_stop_and_the_limit_to_set_is_named(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 10, "dog": 9})
    (a / "cat" / "bad.png").write_bytes(b"")
    report = check(wish(a), 8)
    (stop,) = [finding for finding in report.findings if finding.stops]
    assert stop.text.startswith("FS3101 a: 1 of 20 images are unusable, limit 1%")
    assert stop.max_bad == 0.06
    assert [it.file for it in report.left_out] == ["cat/bad.png"]


def test_foreign_classes_stop_with_their_places_among_the_other_findings(
    tmp_path: Path,
) -> None:
    a = make_site(tmp_path / "a", {"cat": 9, "dog": 9, "bird": 2})
    b = make_site(tmp_path / "b", {"": 4}, start=50)
    rows = "50.png,cat\n51.png,horse\n52.png,CAT\n53.png,horse\n"
    (b / "labels.csv").write_text(f"file,label\n{rows}")
    report = check(wish(a, b), 8)
    assert texts(report, True) == [
        "FS3202 a: bird/0.png: class 'bird' is not in the federation's list; "
        "1 more like it",
        "FS3202 b: labels.csv line 3: class 'horse' is not in the federation's list; "
        "1 more like it",
        "FS3201 b: 1 of 4 rows of labels.csv are bad, limit 1%; first: labels.csv "
        "line 4: class 'CAT' unknown (did you mean 'cat'?)",
    ]
    assert [len(site) for site in report.sites] == [18, 1]
    assert len(report.left_out) == 5


def test_duplicates_are_counted_exactly(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    b = make_site(tmp_path / "b", {"": 2}, start=50)
    shutil.copy(a / "cat" / "0.png", a / "cat" / "again.png")
    shutil.copy(b / "50.png", b / "copy.png")
    shutil.copy(b / "50.png", a / "cat" / "from-b.png")
    report = check(wish(a, b, allow_leak=True), 8)
    assert sorted(map(len, duplicates(report.sites))) == [2, 3]
    found = [text for text in texts(report, False) if text.startswith("FS3402")]
    assert found[0].startswith("FS3402 3 exact duplicates, 1 sets across sites")


def test_what_contradicts_itself_is_not_called_harmless_too(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    shutil.copy(a / "cat" / "0.png", a / "dog" / "again.png")
    found = texts(check(wish(a), 8), False)
    assert any(text.startswith("FS3403") for text in found)
    assert not any(text.startswith("FS3402") for text in found)


def test_leak_mixed_modes_and_uncovered_classes_are_found(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 4})
    save_picture(a / "cat" / "color.png", 9, "RGB")
    test = make_site(tmp_path / "t", {"cat": 2}, start=70)
    shutil.copy(test / "cat" / "70.png", a / "cat" / "70.png")
    report = check(wish(a, test=str(test)), 8)
    assert texts(report, True) == [
        "FS3401 1 training images are also tested on (a: 1); first: a/cat/70.png"
    ]
    assert [(it.site, it.file) for it in report.tested] == [("a", "cat/70.png")]
    notes = texts(report, False)
    assert "FS3104 a mixes modes: 5 L, 1 RGB" in notes
    assert "FS3303 no site has a labeled image of 'dog' to learn from" in notes


def test_a_test_folder_without_labels_stops_and_is_told_once(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    test = make_site(tmp_path / "t", {"": 3}, start=70)
    report = check(wish(a, test=str(test)), 8)
    assert texts(report, True) == ["FS3303 there is no labeled image to test on"]
    assert not any("is tested on" in text for text in texts(report, False))


def test_one_picture_under_two_classes_is_a_contradiction(tmp_path: Path) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    b = make_site(tmp_path / "b", {"": 2}, start=50)
    shutil.copy(a / "cat" / "0.png", a / "dog" / "same.png")
    shutil.copy(a / "cat" / "1.png", a / "cat" / "twin.png")  # no contradiction
    shutil.copy(a / "cat" / "2.png", b / "same.png")  # nor this: it has no label
    report = check(wish(a, b, allow_leak=True), 8)
    assert {(it.site, it.file) for it in report.contradicting} == {
        ("a", "cat/0.png"),
        ("a", "dog/same.png"),
    }
    (note,) = [text for text in texts(report, False) if "FS3403" in text]
    assert "is 'cat' here, but the same picture is a/dog/same.png (dog)" in note


def test_links_to_folders_are_told_and_files_of_other_endings_counted(
    tmp_path: Path,
) -> None:
    a = make_site(tmp_path / "a", {"cat": 5, "dog": 5})
    elsewhere = make_site(tmp_path / "elsewhere", {"": 3}, start=70)
    (a / "bird").symlink_to(elsewhere, target_is_directory=True)
    (a / "cat" / "more").symlink_to(elsewhere, target_is_directory=True)
    for name in ("x.heic", "y.HEIC", "notes.txt", "README"):
        (a / name).write_bytes(b"?")
    report = check(wish(a), 8)
    assert [(it.file, it.code) for it in report.left_out] == [
        ("bird", "FS3102"),
        ("cat/more", "FS3102"),
    ]
    assert "link to a folder" in report.left_out[0].reason
    (note,) = [text for text in texts(report, False) if "FS3106" in text]
    assert "4 files" in note and "2 .heic" in note and "1 no ending" in note
