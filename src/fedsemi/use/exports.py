"""Take a run elsewhere: tables, TensorBoard, models that need no fedsemi, a card."""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fedsemi.client.evaluate import SCORES
from fedsemi.errors import ConfigError
from fedsemi.report.card import as_markdown, card_of
from fedsemi.report.run import Run
from fedsemi.report.view import evaluation_of
from fedsemi.runs.model_card import ModelCard
from fedsemi.runs.records import RoundRecord
from fedsemi.storage import make_folder, write_whole
from fedsemi.use.deployed import CARD, Deployed, load_model

_ROUND = ("stage", "method", "round", "seconds")
_CLIENT = (
    "num_labeled",
    "num_unlabeled",
    "num_pseudo",
    "contribution",
    "pseudo_label_accuracy",
    "bytes_sent",
)
_UNDER_MASKS = ("num_pseudo", "contribution")
"""What is not known of a round under masks."""


def save_csv(run: Run, folder: Path) -> list[Path]:
    """Write rounds.csv and clients.csv: a line a round, a line a round and client."""
    make_folder(folder)
    who = ("client", "site") if run.sites else ("client",)
    heads = (*_ROUND, *SCORES, "validation_accuracy"), (*_ROUND[:3], *who, *_CLIENT)
    paths = [folder / "rounds.csv", folder / "clients.csv"]
    tables = round_rows(run), client_rows(run)
    for path, head, rows in zip(paths, heads, tables, strict=True):
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(head)
        writer.writerows([row[name] for name in head] for row in rows)
        write_whole(path, text.getvalue().encode())
    return paths


def round_rows(run: Run) -> list[dict[str, Any]]:
    """Lay the rounds out as a table; scores are None in rounds without a test."""
    return [
        {name: getattr(record, name) for name in _ROUND} | _scores(record)
        for record in run.records
    ]


def client_rows(run: Run) -> list[dict[str, Any]]:
    """Lay out what each client did in each round; sites are named if they have one."""
    return [
        {name: getattr(record, name) for name in _ROUND[:3]}
        | {"client": id}
        | ({"site": run.sites.get(id, "")} if run.sites else {})
        | {name: getattr(client, name) for name in _CLIENT}
        | (dict.fromkeys(_UNDER_MASKS) if record.hidden else {})
        for record in run.records
        for id, client in record.clients.items()
    ]


def _scores(record: RoundRecord) -> dict[str, float | None]:
    tested = record.test.scores if record.test else {}
    held_out = record.validation.accuracy if record.validation else None
    scores: dict[str, float | None] = {name: tested.get(name) for name in SCORES}
    return {**scores, "validation_accuracy": held_out}


def save_tensorboard(run: Run, folder: Path) -> None:
    """Write events for TensorBoard; steps count the rounds of all stages."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise missing("tensorboard", "tensorboard") from None
    make_folder(folder)
    writer: Any = SummaryWriter(str(folder))
    for step, record in enumerate(run.records, start=1):
        for name, value in scalars(record).items():
            if value is not None:
                writer.add_scalar(name, value, step)
    writer.close()


def scalars(record: RoundRecord) -> dict[str, float | None]:
    """Name the numbers of a round that TensorBoard and MLflow draw."""
    found: dict[str, float | None] = {}
    if record.test:
        found |= {f"test/{name}": score for name, score in record.test.scores.items()}
    if record.validation:
        found["held_out/accuracy"] = record.validation.accuracy
    for id, client in record.clients.items():
        if not record.hidden:
            found[f"contribution/client {id}"] = client.contribution
            found[f"num_pseudo/client {id}"] = client.num_pseudo
        found[f"pseudo_label_accuracy/client {id}"] = client.pseudo_label_accuracy
    return found


def save_torch(run: Run, path: Path) -> None:
    """Write a program that `torch.export.load` reads without fedsemi (.pt2)."""
    model, card = _with_card(run)
    program = _program(model, card)
    content = io.BytesIO()
    torch.export.save(program, content, extra_files={CARD: card.as_json()})
    write_whole(path, content.getvalue())


def save_onnx(run: Run, path: Path) -> None:
    """Write an ONNX model with its card in the metadata."""
    try:
        import onnx
    except ImportError:
        raise missing("ONNX", "export") from None
    model, card = _with_card(run)
    content: Any = io.BytesIO()
    with warnings.catch_warnings():
        # The newer exporter needs one more package and gives these networks the same.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            model,
            (_example(card),),
            content,
            dynamo=False,
            input_names=["images"],
            output_names=["probabilities"],
            dynamic_axes={"images": {0: "count"}, "probabilities": {0: "count"}},
        )
    graph = onnx.load_from_string(content.getvalue())
    entry = graph.metadata_props.add()
    entry.key, entry.value = CARD, card.as_json()
    write_whole(path, graph.SerializeToString())


def save_card(run: Run, path: Path) -> None:
    """Write the model card as a page of Markdown, for people."""
    rows = card_of(run, evaluation_of(run))
    if not rows:
        raise ConfigError(
            f"'{run.path}' has no model yet, for the run is not over; continue it with "
            "`fedsemi run --resume`",
            code="FS3510",
        )
    write_whole(path, as_markdown(run.name, rows).encode())


def _with_card(run: Run) -> tuple[Deployed, ModelCard]:
    """Load the model, and say with it what people should know."""
    model, card = load_model(run.path)
    return model, replace(card, about=tuple(card_of(run, evaluation_of(run))))


def _program(model: Deployed, card: ModelCard) -> torch.export.ExportedProgram:
    count = torch.export.Dim("count")
    shapes = ({0: count},)
    return torch.export.export(model, (_example(card),), dynamic_shapes=shapes)


def _example(card: ModelCard) -> Tensor:
    side = card.views.size
    return torch.zeros(2, len(card.views.mean), side, side, dtype=torch.uint8)


def missing(what: str, extra: str) -> ConfigError:
    """Say which extra brings a package."""
    return ConfigError(
        f"{what} is not installed; `pip install 'fedsemi[{extra}]'` adds it",
        code="FS4108",
    )
