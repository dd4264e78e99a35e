"""Read metrics.jsonl and other files of lines: one reader for all who look at a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from fedsemi.errors import StorageError
from fedsemi.runs.records import CUTS, RoundRecord
from fedsemi.text.json_text import parsed_object

T = TypeVar("T")


def read_records(path: Path) -> list[RoundRecord]:
    """Read the rounds of a run, in order, also of one that still goes on.

    Records of older versions are read as well: a field that came later has its
    default, and one that is not known here is left out. A round that a resumed run
    repeats counts once, as it was the last time. Without a file there is no round yet.
    """
    rounds = {(r.stage, r.round): r for r in read_lines(path, record_of)}
    return [rounds[key] for key in sorted(rounds)]


def record_of(content: Mapping[str, Any]) -> RoundRecord:
    """Read what `RoundRecord.as_json` wrote, or raise a ValueError of one line."""
    tested = content.get("accuracy") is not None
    notices = [_with_part(notice) for notice in content.get("notices") or []]
    now = {"test": content if tested else None, "notices": notices}
    return typed(_RECORD, {**content, **now})


def _with_part(notice: Any) -> Any:
    """Tell cuts from other notices by their code, where older versions did not."""
    is_cut = isinstance(notice, Mapping) and notice.get("code") in CUTS
    return {"part": None, **notice} if is_cut else notice


def read_lines(path: Path, read: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """Read a file of JSON objects, a line each.

    A line that a writer has not ended yet is left for the next time.
    """
    try:
        *whole, _ = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(
            f"cannot read '{path}': {error.strerror}", "FS1101"
        ) from None
    for number, line in enumerate(whole, start=1):
        try:
            found = read(parsed_object(line))
        except ValueError as error:
            raise StorageError(
                f"line {number} of '{path}' is damaged ({error}); remove it", "FS1104"
            ) from None
        yield found


def typed(adapter: TypeAdapter[T], content: Any) -> T:
    """Make a record of JSON; the error names the first field that does not fit."""
    try:
        return adapter.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        lacks = first["type"] == "missing"
        told = f"it lacks '{place}'" if lacks else f"'{place}': {first['msg']}"
        raise ValueError(told) from None


_RECORD = TypeAdapter(RoundRecord)
