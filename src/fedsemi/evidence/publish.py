"""Write every number that the documentation cites from the records in `results`.

`python -m fedsemi.evidence.publish` does it (`make results`); a test does it again and
compares. What stands between `<!-- results: NAME -->` and `<!-- end of results -->` is
written by this module, everything else by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from fedsemi.errors import ConfigError
from fedsemi.evidence import beside_paper, demo_record, valued
from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.audits import audit_table
from fedsemi.evidence.benchmark import DEFAULTS, Benchmark, benchmarks
from fedsemi.evidence.benchmark_output import write_benchmarks
from fedsemi.evidence.benchmark_table import as_markdown
from fedsemi.evidence.captions import caption_of, remarks
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.layout import grid_of
from fedsemi.evidence.output import write_all
from fedsemi.evidence.overview import as_markdown as overview_markdown
from fedsemi.evidence.overview import at_a_glance, overview
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import CHOOSING, QUESTIONS
from fedsemi.evidence.rank_plot import rank_plot
from fedsemi.evidence.records import read_records
from fedsemi.evidence.render import (
    answer_markdown,
    markdown_grid,
    markdown_table,
    name_of,
)
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import Standing, standing
from fedsemi.evidence.words import words_table
from fedsemi.storage import make_folder, write_whole

PROFILE = "medium"
PAGES = (
    "README.md",
    "docs/glossary.md",
    "docs/protocol.md",
    "docs/results.md",
    "docs/seeing.md",
)
FIELD = "docs/benchmark.md"
"""The page of the field: benchmarks under cards, and audits of weights."""
_CHOICES = ("q6", "q7")
"""What is answered with the seeds that are for choosing."""
_BLOCK = re.compile(
    r"(<!-- results: ([\w-]+) -->\n).*?(<!-- end of results -->)", re.DOTALL
)


def publish(root: Path) -> None:
    """Write tables, the page and the marked parts of the documentation."""
    evidence, choosing = (_read(root, name) for name in (PROFILE, CHOOSING))
    everything = [*QUESTIONS.values(), *CATALOGUE.values()]
    folder = root / "results" / PROFILE
    write_all(folder, everything, evidence, root / "results" / "index.html")
    parts = parts_of(evidence, choosing)
    parts["words"] = words_table
    parts["demo"] = partial(demo_record.sentence, root / demo_record.FOLDER)
    parts["demo-draws"] = partial(demo_record.draws, root / demo_record.FOLDER)
    parts["worth"] = partial(valued.worth_table, root / valued.FOLDER)
    for name in PAGES:
        page = root / name
        text = fill(page.read_text("utf-8"), parts)
        write_whole(page, text.encode())
    _publish_field(root, read_profile(PROFILE), evidence)


def _read(root: Path, profile: str) -> Evidence:
    source = read_profile(profile)
    records = read_records(root / "results" / profile)
    return Evidence(source, source.seeds, records)


def _publish_field(root: Path, source: Profile, evidence: Evidence) -> None:
    """Write benchmarks with their pictures, and the page that shows them."""
    parts: dict[str, Callable[[], str]] = {
        "audits": partial(audit_table, root / "results" / "audits")
    }
    for card in DEFAULTS:
        made = benchmarks(card, (), None, source)
        write_benchmarks(root / "results" / PROFILE, made, evidence)
        found = [standing(each, evidence) for each in made]
        for each in found:
            if each.ran and each.ranking.ranks:
                picture = root / "docs" / _picture(each.benchmark)
                make_folder(picture.parent)
                write_whole(picture, rank_plot(each.ranking).encode())
        parts[f"benchmark-{card.lower()}"] = partial(_field, found, evidence)
    page = root / FIELD
    write_whole(page, fill(page.read_text("utf-8"), parts).encode())


def _field(found: Sequence[Standing], evidence: Evidence) -> str:
    ran = [each for each in found if each.ran]
    texts = [as_markdown(each, evidence, _picture(each.benchmark)) for each in ran]
    return "\n\n".join(texts) or "Not run yet."


def _picture(benchmark: Benchmark) -> str:
    return f"images/{benchmark.name}.svg"


def parts_of(evidence: Evidence, choosing: Evidence) -> dict[str, Callable[[], str]]:
    """Name the parts that are made of records of runs, each by what makes it."""
    return {
        **{name: partial(make, evidence) for name, make in _PARTS.items()},
        "choosing": partial(_chosen, choosing),
    }


def fill(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Fill each marked part of a text with what its name makes."""

    def part(found: re.Match[str]) -> str:
        start, name, end = found.groups()
        if name not in parts:
            raise ConfigError(
                f"there is no part '{name}' to fill in; known: {', '.join(parts)}",
                code="FS4104",
            )
        return f"{start}{parts[name]()}\n{end}"

    return _BLOCK.sub(part, text)


def _answered(evidence: Evidence) -> list[Answer]:
    found = [answer_of(name, evidence) for name in QUESTIONS]
    return [each for each in found if each is not None]


def _short(evidence: Evidence) -> str:
    """Answer each question in a line."""
    return overview_markdown(overview(_answered(evidence)))


def _glance(evidence: Evidence) -> str:
    """Answer each question at a glance."""
    return at_a_glance(overview(_answered(evidence)))


def _long(evidence: Evidence) -> str:
    return "\n\n".join(map(_section, _answered(evidence)))


def _chosen(evidence: Evidence) -> str:
    """Answer what was asked in order to choose, as far as it was run."""
    every = [answer_of(name, evidence) for name in _CHOICES]
    ran = [each for each in every if each is not None and each.rows]
    return "\n\n".join(map(_section, ran)) or "Nothing was run yet."


def _section(answer: Answer) -> str:
    return f"### {name_of(answer)}: {answer.question}\n\n{answer_markdown(answer)}"


def _tables(evidence: Evidence) -> str:
    """Write the paper's tables of which something was run, each with its notes."""
    parts = []
    for artifact in CATALOGUE.values():
        grid = grid_of(artifact, evidence)
        if not grid.compares:
            continue
        notes = [f"- {each}" for each in remarks(artifact, evidence)]
        head = f"### {name_of(artifact)}: {artifact.title}"
        table = f"{markdown_grid(grid)}\n{caption_of(grid, evidence)}"
        parts.append("\n\n".join([head, table, "\n".join(notes)]))
    return "\n\n".join(parts)


def _state(evidence: Evidence) -> str:
    """Say how many runs there are of what each artifact needs."""
    rows = [
        (name_of(each), each.title, _seeds(each.settings, evidence))
        for each in [*QUESTIONS.values(), *CATALOGUE.values()]
        if each.settings and evidence.has_some(each)
    ]
    missing = [name_of(a) for a in CATALOGUE.values() if not evidence.has_some(a)]
    table = markdown_table(("artifact", "what", f"runs in `{PROFILE}`"), rows)
    count = f"{len(evidence.records)} records."
    return f"{count} Not run at all: {', '.join(missing)}.\n\n{table}"


def _seeds(settings: Sequence[Setting], evidence: Evidence) -> str:
    counts = [len(evidence.found(each)) for each in settings]
    ran = [each for each in counts if each]
    most = max(ran)
    fewest = "" if min(ran) == most else f"{min(ran)} to "
    seeds = f"{fewest}{most} seed{'s' if most > 1 else ''}"
    return f"{len(ran)} of {len(counts)} settings, {seeds}"


_PARTS: dict[str, Callable[[Evidence], str]] = {
    "glance": _glance,
    "short": _short,
    "paper": beside_paper.as_markdown,
    "paper-short": beside_paper.sentence,
    "state": _state,
    "answers": _long,
    "tables": _tables,
}

if __name__ == "__main__":
    publish(Path())
