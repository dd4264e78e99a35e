"""Pictures of a folder in the order of a rule, by the model of a run."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.data.pictures import save_picture

import fedsemi
from fedsemi.asking.asker import Asker
from fedsemi.asking.queue import FILE, write_queue
from fedsemi.asking.rules import RULES
from fedsemi.asking.shelf import Shelf
from fedsemi.errors import ConfigError, DataError
from fedsemi.runs.model_card import ModelCard
from fedsemi.use.predict import predictions


def files(asker: Asker, shelf: Shelf, rule: str, budget: int) -> list[str]:
    return [each.file for each in asker.queue(shelf, rule, budget)[0].asked]


def test_guesses_are_those_of_predict(
    asker: Asker, shelf: Shelf, real_run: Path
) -> None:
    queue, left_out = asker.queue(shelf, "uncertainty", 100)
    found = {
        file: (label, sure)
        for file, label, sure in predictions(real_run, shelf.folder).rows
    }
    assert len(queue.asked) == 12
    assert left_out == ()
    for each in queue.asked:
        label, sure = found[each.file]
        assert (each.guess, each.sure) == (label, pytest.approx(sure, abs=1e-5))


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_asks_about_unlabeled_pictures_only(
    rule: str, asker: Asker, shelf: Shelf
) -> None:
    shelf.write("00.png", shelf.classes[0])
    found = files(asker, shelf, rule, 5)
    assert len(set(found)) == 5
    assert "00.png" not in found


@pytest.mark.parametrize("rule", RULES)
def test_a_larger_budget_goes_on_where_the_smaller_one_ended(
    rule: str, asker: Asker, shelf: Shelf
) -> None:
    first, _ = asker.queue(shelf, rule, 4)
    write_queue(shelf.folder, first)
    shelf.write(first.asked[0].file, shelf.classes[1])  # it counts as asked
    assert asker.queue(shelf, rule, 4)[0].asked == first.asked
    longer = asker.queue(shelf, rule, 7)[0].asked
    assert longer[:4] == first.asked
    assert len({each.file for each in longer}) == 7
    assert asker.queue(shelf, rule, 2)[0].asked == first.asked[:2]


def test_a_picture_that_is_gone_is_not_asked_about(asker: Asker, shelf: Shelf) -> None:
    first, _ = asker.queue(shelf, "random", 3)
    write_queue(shelf.folder, first)
    (shelf.folder / first.asked[1].file).unlink()
    found = files(asker, shelf, "random", 3)
    assert len(found) == 3
    assert first.asked[1].file not in found


def test_a_queue_that_somebody_wrote_reaches_nothing_outside_of_the_folder(
    asker: Asker, shelf: Shelf
) -> None:
    save_picture(shelf.folder.parent / "secret.png", 5)
    queue, _ = asker.queue(shelf, "random", 2)
    write_queue(shelf.folder, queue)
    path = shelf.folder / FILE
    content = json.loads(path.read_text())
    content["asked"][0]["file"] = "../secret.png"
    path.write_text(json.dumps(content))
    assert "../secret.png" not in files(asker, shelf, "random", 2)


def test_what_cannot_be_read_is_named_and_left_out(asker: Asker, shelf: Shelf) -> None:
    (shelf.folder / "05.png").write_bytes(b"no picture")
    queue, (line,) = asker.queue(shelf, "balance", 100)
    assert len(queue.asked) == 11
    assert "FS3101" in line and "05.png" in line


def test_a_folder_where_all_have_labels_has_nothing_to_ask(
    asker: Asker, shelf: Shelf
) -> None:
    for file in shelf.pictures()[0]:
        shelf.write(file, shelf.classes[0])
    with pytest.raises(DataError, match=r"FS6406 .* nothing to ask"):
        asker.queue(shelf, "random", 5)


def test_an_exported_model_ranks_by_all_but_coverage(
    asker: Asker, shelf: Shelf
) -> None:
    exported = Asker(lambda images: asker.model(images), asker.card, "x")
    assert files(exported, shelf, "uncertainty", 5) == files(
        asker, shelf, "uncertainty", 5
    )
    with pytest.raises(ConfigError, match="FS6403"):
        exported.queue(shelf, "coverage", 5)


def test_other_classes_than_the_models_are_no_labels(
    asker: Asker, shelf: Shelf
) -> None:
    card: ModelCard = asker.card
    assert shelf.classes == card.class_names
    (shelf.folder / "labels.csv").write_text("file,label\n00.png,martian\n")
    with pytest.raises(DataError, match="FS3202"):
        asker.queue(shelf, "random", 5)


def test_what_ranks_pictures_never_imports_the_truth() -> None:
    """Held by a contract that `make check` looks at, for all that runs at a site."""
    root = Path(fedsemi.__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (rule,) = [each for each in contracts if "ranks a site's" in each["name"]]
    names = ("rules", "pool", "shelf", "queue", "asker", "desk")
    assert {f"fedsemi.asking.{name}" for name in names} < set(rule["source_modules"])
    assert "fedsemi.simulation" in rule["forbidden_modules"]
