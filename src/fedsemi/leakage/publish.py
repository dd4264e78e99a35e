"""Write the tables of a folder of records, and those of the documentation.

`python -m fedsemi.leakage.publish` (`make results`) fills the marked parts of
docs/what-a-site-reveals.md from the records in results/leak; a test does it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.publish import fill
from fedsemi.leakage.records import Record, read_records
from fedsemi.leakage.tables import as_csv, as_markdown
from fedsemi.leakage.words import sentences
from fedsemi.storage import write_whole

FOLDER = "results/leak"
PAGE = "docs/what-a-site-reveals.md"


def publish(root: Path) -> None:
    """Write what the records say into their folder and into the documentation."""
    records = read_records(root / FOLDER)
    write_tables(root / FOLDER, records)
    page = root / PAGE
    parts = {
        "leak-tables": lambda: as_markdown(records),
        "leak-words": lambda: words(records),
        "leak-scale": lambda: scale(records),
    }
    write_whole(page, fill(page.read_text("utf-8"), parts).encode())


def write_tables(folder: Path, records: Sequence[Record]) -> None:
    """Write the tables as Markdown and CSV."""
    title = "# What a curious server learns"
    text = "\n\n".join([title, scale(records), as_markdown(records), words(records)])
    write_whole(folder / "leak.md", f"{text}\n".encode())
    write_whole(folder / "leak.csv", as_csv(records).encode())


def words(records: Sequence[Record]) -> str:
    """List what the tables mean."""
    return "\n".join(f"- {sentence}" for sentence in sentences(records))


def scale(records: Sequence[Record]) -> str:
    """Say how large the experiment was."""
    first, seeds = records[0], len({record.seed for record in records})
    config, some = first.config, first.scale
    model, partition = config["model"], config["partition"]
    data, (*before, last) = config["data"], config["stages"]
    images, size = data.get("train_limit", "all"), data.get("image_size")
    warm_up = sum(stage["rounds"] for stage in before)
    return (
        f"{data['name']}{f' at {size} px' if size else ''}, {images} training images "
        f"in four parts; {model['name']} of width {model.get('width', 'as usual')}; "
        f"{partition['num_clients']} sites in the federation, Dirichlet("
        f"{partition['dirichlet_alpha']}), {warm_up} rounds of warm-up and "
        f"{last['rounds']} of the method; {some.sites} sites judged by attackers that "
        f"simulated {2 * some.sites} with other images; noise multiplier "
        f"{some.noise:g}; {seeds} seed{'s' if seeds > 1 else ''}, ± is half of the "
        "95 % interval over seeds (Student's t)."
    )


if __name__ == "__main__":
    publish(Path())
