"""The model card: what somebody must know who is handed the model of a run.

Its rows say where the model comes from, how it was protected, what was measured and on
what, and what nobody knows. All of it follows from the run's folder, nothing is filled
in by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedsemi.client.subgroups import FEWEST
from fedsemi.data.label_gaps import listed
from fedsemi.report.companion import sentence_of
from fedsemi.report.run import Run
from fedsemi.report.settings import without_places
from fedsemi.text.printable import printable

Row = tuple[str, str]


def card_of(run: Run, evaluation: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a finished run's card, each a title and a text.

    Args:
        run: Whose model it is.
        evaluation: What is known of that model, as in evaluation.json.
    """
    if not run.finished:
        return []
    rows = [*_origin(run), *_protection(run), *_measured(run, evaluation)]
    rows += [("Limits", " ".join(_limits(run, evaluation)))]
    rows += [("Use", "fedsemi predict RUN FOLDER, or fedsemi export RUN --format onnx")]
    return rows


def as_markdown(name: str, rows: Sequence[Row]) -> str:
    """Write a card as a page of Markdown."""
    parts = [f"# Model card: {printable(name)}", ""]
    for title, text in rows:
        parts += [f"## {title}", "", _plain(text), ""]
    return "\n".join(parts)


def _plain(text: str) -> str:
    """Let names be words, whatever Markdown they hold."""
    shown = printable(text, 100_000)
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in shown)


def _origin(run: Run) -> Iterator[Row]:
    config, data = run.config, run.analysis.get("data") or {}
    model, side = config["model"], data.get("image_size")
    width = f", width {model['width']}" if model.get("width") else ""
    pixels = f"; input {side} x {side} pixels" if side else ""
    sha256 = run.summary.get("model_sha256")
    mean = f"; {run.delivered}" if run.delivered else ""
    yield "Model", f"{model['name']}{width}{pixels}; SHA-256 {sha256}{mean}"
    if names := run.analysis.get("class_names"):
        yield "Classes", ", ".join(names)
    if data:
        left_out = data.get("left_out")
        without = f"; {left_out:,} files were left out" if left_out else ""
        origin = without_places(data["origin"])
        counts = f"{data['train']:,} images to learn from, {data['test']:,} to test"
        yield "Data", f"{data['name']}: {counts}{without}; from {origin}"
    yield "Sites", _sites(run)
    rounds = [
        f"{stage['rounds']} rounds of {stage['method']}" for stage in config["stages"]
    ]
    yield "Method", f"{', then '.join(rounds)}; seed {config['seed']}"
    if sentence := sentence_of(run):
        yield "Unlabeled sites", str(without_places(sentence))


def _sites(run: Run) -> str:
    last = run.records[-1].clients if run.records else {}
    known = run.analysis.get("clients") or {
        id: vars(client) for id, client in last.items()
    }
    labeled = [each for each in known.values() if each.get("num_labeled")]
    images = sum(each.get("num_labeled", 0) for each in known.values())
    others = sum(each.get("num_unlabeled", 0) for each in known.values())
    text = f"{len(known)}, of which {len(labeled)} had labels; {images:,} images with "
    text += f"labels, {others:,} without"
    names = [name for _, name in sorted(run.sites.items())]
    return f"{text}: {listed(names, most=20)}" if names else text


def _protection(run: Run) -> Iterator[Row]:
    privacy: Mapping[str, Any] = run.config.get("privacy") or {}
    cuts = sum(len(record.cuts) for record in run.records)
    enabled = run.config["guard"]["enabled"]
    if privacy.get("masked"):
        guard = "single sites could not be bounded, for the server saw sums alone"
        if enabled and privacy.get("groups", 1) > 1:
            guard += (
                f"; groups of sites were compared, and their steps cut {cuts:,} times"
            )
    elif enabled:
        guard = f"on: no site could pull the model far; it cut {cuts:,} times"
    else:
        guard = "off: a single faulty or hostile site could have changed the model"
    dropped = sum(len(record.dropped) for record in run.records)
    refused = f"; {dropped:,} answers were refused" if dropped else ""
    yield "Guard", f"{guard}{refused}"
    yield "Privacy", _privacy(run, privacy)


def _privacy(run: Run, privacy: Mapping[str, Any]) -> str:
    seen = (
        f"the server saw sums over {privacy['least_sites']} sites or more"
        if privacy.get("masked")
        else "the server saw each site's model and statistics"
    )
    spent = run.records[-1].privacy if run.records else None
    if spent is None:
        return (
            f"{seen}; without noise, so nothing bounds what the model tells of the "
            "images that it learned from"
        )
    of = "the models" if spent.covers == "model" else "the statistics alone"
    return f"{seen}; of {of}, ε = {spent.epsilon:.3g} at δ = {spent.delta:g} for a site"


def _measured(run: Run, evaluation: Mapping[str, Any]) -> Iterator[Row]:
    test = evaluation.get("test")
    if test is None:
        result = (run.summary.get("result") or {}).get("last_round") or {}
        known = [f"{k} {100 * v:.1f} %" for k, v in result.items() if v is not None]
        how = "without intervals; `fedsemi evaluate RUN` adds them"
        yield "Measured", f"{', '.join(known)}; {how}" if known else "nothing: no test"
        return
    scores, names = test["scores"], evaluation["class_names"]
    there = f"{len(names) - len(scores['missing'])} of {len(names)} classes"
    shown = [
        f"{title} {_within(scores[name])}"
        for name, title in _TITLES.items()
        if scores[name] is not None
    ]
    rests = f"{scores['num']:,} test images of {there}; 95 % intervals"
    yield "Measured", f"{', '.join(shown)}: {rests}"
    told = test["calibration"]
    chance = "more than" if told["error"] > told["by_chance"] else "no more than"
    yield (
        "Calibration",
        f"error {100 * told['error']:.1f} %, {chance} chance makes of so many images",
    )
    weakest = sorted((e for e in test["classes"] if e["num"]), key=_recall)[:3]
    texts = [f"{e['name']} {_within(e['recall'])}, {e['num']} images" for e in weakest]
    yield "Weakest classes", f"by recall: {'; '.join(texts)}"


_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
}


def _limits(run: Run, evaluation: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "Not for decisions about people without a test on images of the place where it "
        "is used. Numbers are of one split of one data set and one seed; other "
        "cameras, places and people are not covered."
    )
    test = evaluation.get("test")
    if test is not None:
        if missing := test["scores"]["missing"]:
            yield f"Nothing is known of {listed(missing)}: no test image."
        few = [each["name"] for each in test["classes"] if 0 < each["num"] < FEWEST]
        if few:
            yield f"Of {listed(few)} there are fewer than {FEWEST} test images."
        if not evaluation.get("subgroups"):
            yield "Whether it serves some people worse was not measured: no table of "
            yield "the test images says who is on them."
    yield from run.analysis.get("label_gaps") or ()


def _within(share: Mapping[str, float]) -> str:
    value, low, high = (100 * share[name] for name in ("value", "low", "high"))
    return f"{value:.1f} % ({low:.1f}–{high:.1f})"


def _recall(each: Mapping[str, Any]) -> float:
    return float(each["recall"]["value"])
