"""Commands that take a run elsewhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fedsemi.cli.see import RunPath
from fedsemi.errors import ConfigError
from fedsemi.report.run import read_run
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.screen import Screen, say
from fedsemi.use import exports
from fedsemi.use.mlflow_sink import save_mlflow
from fedsemi.use.predict import Predictions, predictions
from fedsemi.use.unsure import unsure_page


class Format(StrEnum):
    """What `fedsemi export` can write."""

    onnx = "onnx"
    torch = "torch"
    csv = "csv"
    tensorboard = "tensorboard"
    mlflow = "mlflow"
    card = "card"


def export(
    run: RunPath,
    format: Annotated[Format, typer.Option(help="What to write.")],
    out: Annotated[
        Path | None, typer.Option(help="File or folder; inside the run by default.")
    ] = None,
) -> None:
    """Write the model for use without fedsemi, or the record for other tools.

    onnx and torch take bytes [N, channels, size, size] and give probabilities; csv and
    tensorboard are folders; mlflow goes to the server that MLFLOW_TRACKING_URI names;
    card says what people should know of the model.

    Example: fedsemi export runs/demo/semianagg --format onnx --out model.onnx
    """
    found = read_run(run)
    files = {"onnx": "model.onnx", "torch": "model.pt2", "card": "model-card.md"}
    default = files.get(format, format)
    if format is Format.mlflow:
        if out is not None:
            raise ConfigError(
                "mlflow goes where MLFLOW_TRACKING_URI says; leave --out away",
                code="FS4107",
            )
        Screen().print(f"logged to {save_mlflow(found)}", soft_wrap=True)
        return
    target = out or run / default
    make_folder(target.parent)
    {
        Format.onnx: exports.save_onnx,
        Format.torch: exports.save_torch,
        Format.csv: exports.save_csv,
        Format.tensorboard: exports.save_tensorboard,
        Format.card: exports.save_card,
    }[format](found, target)
    Screen().print(f"saved {target}", soft_wrap=True)


def predict(
    model: Annotated[Path, typer.Argument(help="A run, or an exported .onnx or .pt2.")],
    folder: Annotated[Path, typer.Argument(help="Folder of pictures.")],
    out: Annotated[Path | None, typer.Option(help="A CSV file.")] = None,
    unsure: Annotated[
        Path | None,
        typer.Option(help="A page of the pictures that the model is least sure of."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="sites.KEY=VALUE",
            help="How these pictures become pixels: sites.sixteen_bit_range or "
            "sites.background. May be repeated.",
        ),
    ] = None,
) -> None:
    """Classify the pictures of a folder; prints CSV with file, class, probability.

    Pictures that cannot be read are named and left out. They become pixels as those did
    that the model learned from, unless --set says otherwise.

    Example: fedsemi predict runs/demo/semianagg photos --out classes.csv
    """
    found = predictions(model, folder, overrides or [])
    for line in found.left_out:
        say(line, err=True)
    if found.left_out:
        total = len(found.rows) + len(found.left_out)
        say(f"left out {len(found.left_out)} of {total} pictures", err=True)
    if out is None:
        _print_csv(found)
    else:
        _save(out, found.as_csv())
    if unsure is not None:
        _save(unsure, unsure_page(model, folder, found).encode(), private=True)


def _save(path: Path, content: bytes, private: bool = False) -> None:
    make_folder(path.parent)
    write_whole(path, content, private)
    say(f"saved {path}", err=private)  # the CSV may go to stdout


def _print_csv(found: Predictions) -> None:
    """Print rows for a reader, or for a program, which gets names byte for byte."""
    if not sys.stdout.isatty():
        typer.echo(found.as_csv(), nl=False)
        return
    for line in found.shown().as_csv().decode().splitlines():
        say(line)
