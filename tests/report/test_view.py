"""What the page is told about runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fedsemi.report.run import read_run
from fedsemi.report.view import view_of, weakest
from fedsemi.runs.records import Cut, GroupRecord, Notice, Spent


def test_client_nines_share_appears_under_nine(make_run) -> None:
    run = read_run(make_run(clients=12))
    clients = view_of([run])["runs"][0]["clients"]
    assert clients["ids"] == list(range(12))  # not 0, 1, 10, 11, 2, ...
    place = clients["ids"].index(9)
    assert clients["contribution"][place][-1] == pytest.approx(9 / 66, rel=1e-3)
    assert clients["unlabeled"][place] == 109
    assert clients["bytes"][place] == 3 * 1009


def test_a_client_that_misses_a_round_contributes_nothing_in_it(make_run) -> None:
    run = read_run(make_run())
    clients = {id: c for id, c in run.records[1].clients.items() if id != 2}
    run.records[1] = replace(run.records[1], clients=clients)
    clients = view_of([run])["runs"][0]["clients"]
    assert clients["contribution"][2][1] == 0
    assert clients["accepted"][2][1] is None


def test_the_worth_of_an_earlier_model_is_left_out(make_run) -> None:
    run = replace(read_run(make_run()), summary={"model_sha256": "new"})
    for model, shown in (("new", True), ("old", False)):
        valued = replace(run, value={"model_sha256": model, "measures": []})
        assert bool(view_of([valued])["runs"][0]["value"]) is shown


def test_the_first_run_that_is_no_bound_is_the_main_one(make_run) -> None:
    low = read_run(make_run("low", stages=[{"method": "supervised", "rounds": 3}]))
    assert view_of([low, read_run(make_run("other"))])["main"] == 1
    assert view_of([low])["main"] == 0


def test_runs_of_one_name_are_told_apart_by_their_parents(make_run) -> None:
    Path(make_run("a")).rename(Path(make_run("b")) / "seed")
    first = read_run(make_run("a")).path.parent / "b" / "seed"
    second = make_run("seed")
    names = [
        run["name"] for run in view_of([read_run(first), read_run(second)])["runs"]
    ]
    assert names[0] == "b/seed"
    assert names[1].endswith("/seed")


def test_settings_that_differ_are_named_with_both_values(make_run) -> None:
    runs = [read_run(make_run("a", seed=1)), read_run(make_run("b", seed=5))]
    assert view_of(runs)["differing"] == {"seed": [1, 5]}
    assert view_of(runs)["cards_differ"] is False


def test_runs_under_different_cards_are_told_not_to_be_compared(make_run) -> None:
    runs = [
        read_run(make_run(card, setting={"card": card, "labels_per_class": 2}))
        for card in ("LAC", "LS")
    ]
    assert view_of(runs)["cards_differ"] is True


def test_a_run_says_whether_its_guard_was_on(make_run) -> None:
    runs = [make_run("off"), make_run("on", guard={"enabled": True})]
    views = view_of([read_run(path) for path in runs])["runs"]
    assert [view["guard"] for view in views] == [False, True]


def test_what_the_guard_cut_is_told_round_by_round(make_run) -> None:
    run = read_run(make_run(guard={"enabled": True}))
    told = (
        Notice(None, 1, "FS2202", "labels only"),
        Cut(3, 1, "FS2107", "step shortened", 1 / 3),
    )
    run.records[1] = replace(run.records[1], notices=told)
    assert view_of([run])["runs"][0]["cuts"] == [
        {"round": 2, "client": 3, "code": "FS2107", "part": 0.3333}
    ]


def test_a_run_says_in_which_precision_it_computed(make_run) -> None:
    exact, rough = make_run("exact"), make_run("rough", precision="bf16")
    config = json.loads((exact / "config.json").read_text())
    del config["precision"]  # as in runs from before there was a choice
    (exact / "config.json").write_text(json.dumps(config))
    views = view_of([read_run(exact), read_run(rough)])["runs"]
    assert [view["precision"] for view in views] == ["float32", "bf16"]


def test_a_real_run_has_all_its_parts(real_run: Path) -> None:
    run = view_of([read_run(real_run)])["runs"][0]
    assert run["finished"]
    assert run["class_names"] == ["disc", "cross", "rows", "columns"]
    assert sum(map(sum, run["confusion"])) == 200
    clients = run["clients"]
    total = sum(clients["labeled"]) + sum(clients["unlabeled"])
    assert total + sum(clients["held_out"]) == 600
    assert [sum(row) for row in clients["class_count"]] == [
        a + b + c
        for a, b, c in zip(
            clients["labeled"], clients["unlabeled"], clients["held_out"], strict=True
        )
    ]
    assert run["rounds"]["validation"][0] is not None


def test_a_page_that_is_handed_on_says_nothing_of_private_folders(make_run) -> None:
    secret = "/home/me/study 7"
    sites = {"folders": [f"{secret}/a", f"{secret}/b"], "classes": ["x", "y"]}
    folders = [
        make_run(
            name,
            data={"name": "folders", "image_size": 8},
            partition={},
            sites=sites | {"test": f"{secret}/{name}", "patient": "/(P[0-9]+)/"},
            start=f"{secret}/model.safetensors",
        )
        for name in ("one", "two")
    ]
    command = [f"{secret}/bin/fedsemi", "run", "--set", f"sites.test={secret}/t/"]
    runs = [
        replace(
            read_run(folder),
            manifest={"command": command},
            analysis={"data": {"origin": f"{secret}/a, {secret}/b"}},
        )
        for folder in folders
    ]
    view = view_of(runs)
    assert "study" not in json.dumps(view)
    assert view["differing"] == {"sites.test": ["one", "two"]}
    first = view["runs"][0]
    assert first["data"]["origin"] == "a, b"
    assert first["settings"]["sites.folders"] == ["a", "b"]
    assert first["settings"]["sites.patient"] == "/(P[0-9]+)/"
    assert first["manifest"]["command"] == ["fedsemi", "run", "--set", "sites.test=t/"]


def test_clients_have_the_names_of_their_sites(make_run) -> None:
    run = read_run(make_run())
    assert view_of([run])["runs"][0]["clients"]["sites"] == [None] * 4
    named = {"clients": {str(k): {"site": f"clinic {k}"} for k in (0, 1, 2)}}
    clients = view_of([replace(run, analysis=named)])["runs"][0]["clients"]
    assert clients["sites"] == ["clinic 0", "clinic 1", "clinic 2", None]


def test_correlations_of_two_clients_are_left_out(make_run) -> None:
    run = read_run(make_run())
    for clients, shown in ((2, 0), (3, 1)):
        valued = replace(run, value={"correlations": [{"clients": clients}]})
        value = view_of([valued])["runs"][0]["value"]
        assert len(value["correlations"]) == shown


def test_all_weakest_classes_are_named_the_first_of_many() -> None:
    assert weakest((0.0, 0.5, 0.0, None), ("a", "b", "c", "d")) == (
        "a, c (2 of 3 classes): recall 0.0 %"
    )
    assert weakest((0.25, 0.5), ("a", "b")) == "a: recall 25.0 %"
    many = weakest((0.0,) * 20, None)
    assert many.startswith("class 0, class 1, ")
    assert many.endswith("class 11 and 8 more (20 of 20 classes): recall 0.0 %")
    assert weakest(None, None) == "–"


def test_what_was_given_away_is_told_after_every_round(make_run) -> None:
    run = read_run(make_run())
    assert view_of([run])["runs"][0]["privacy"] is None
    spent = [Spent(r + 1.0, 1e-5, 0.1, "model") for r in range(3)]
    run.records[:] = [
        replace(r, privacy=s) for r, s in zip(run.records, spent, strict=True)
    ]
    told = view_of([run])["runs"][0]["privacy"]
    assert told["epsilons"] == [1.0, 2.0, 3.0]
    assert (told["epsilon"], told["delta"], told["covers"]) == (3.0, 1e-5, "model")


def test_what_masks_hide_is_not_shown_as_nothing(make_run) -> None:
    run = read_run(make_run())
    assert not view_of([run])["runs"][0]["clients"]["hidden"]
    run.records[1] = replace(run.records[1], hidden=True)
    clients = view_of([run])["runs"][0]["clients"]
    assert clients["hidden"]
    assert clients["contribution"][2][1] is clients["accepted"][2][1] is None
    assert clients["contribution"][2][0] is not None


def test_what_was_cut_of_a_group_was_cut_of_everybody_in_it(make_run) -> None:
    run = read_run(make_run())
    groups = (
        GroupRecord((0, 2), (0, 2), 0.5, 9.0, 0.1),
        GroupRecord((1,), (1,), 0.5, 1.0, 1.0),
    )
    cut = Cut(None, 1, "FS2143", "group 1 (clients 0, 2) went 9", 0.1)
    run.records[:] = [replace(each, notices=()) for each in run.records]
    run.records[1] = replace(run.records[1], groups=groups, notices=(cut,))
    assert view_of([run])["runs"][0]["cuts"] == [
        {"round": 2, "client": client, "code": "FS2143", "part": 0.1}
        for client in (0, 2)
    ]
