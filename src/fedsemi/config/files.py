"""Read a config file that may be anybody's: bounded in size, depth and content."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedsemi.errors import ConfigError, most_alike
from fedsemi.text.json_text import parsed

CONFIGS = Path(__file__).parents[1] / "configs"
"""The configs that come with the package, by data set and method."""

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
MAX_NODES = 10_000


def find_config(path: Path) -> Path:
    """Take a path as it is, or as the name of a shipped config, e.g. svhn/semianagg.

    A folder is no config, so that one called `digits` hides none.
    """
    named = CONFIGS / f"{path}.toml"
    return named if not path.is_file() and named.is_file() else path


def read_settings(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a config says, with overrides and without any default."""
    content = read_config_file(find_config(path))
    for override in overrides:
        apply_override(content, override)
    return content


def read_config_file(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file or of a run's JSON, or say what is wrong."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(
            f"there is no config '{path}'{_meant(path)}", code="FS4001"
        ) from None
    except OSError as error:
        raise ConfigError(f"cannot read '{path}': {error.strerror}", "FS4001") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(
            f"'{path}' is larger than {MAX_BYTES // 1024} kB; a config is not", "FS4103"
        )
    try:
        table = _parsed(path, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read '{path}': {error}", code="FS4001") from None
    except ValueError as error:  # also a number or a date that cannot be
        kind = "JSON" if path.suffix == ".json" else "TOML"
        reason = str(error).replace("\n", " ")[:300]
        raise ConfigError(f"'{path}' is not {kind}: {reason}", code="FS4103") from None
    except RecursionError:  # of TOML
        raise ConfigError(f"'{path}' is nested too deeply", code="FS4103") from None
    _check_shape(path, table)
    return table


def apply_override(content: dict[str, Any], override: str) -> None:
    """Set `section.key=value` in the content of a config."""
    path, separator, text = override.partition("=")
    if not separator or not path:
        raise ConfigError(
            f"'{override}' is not of the form section.key=value", code="FS4102"
        )
    *parents, last = path.split(".")
    place: Any = content
    for name in parents:
        place = _descend(place, name, path)
    if isinstance(place, list):
        raise ConfigError(f"'{path}' names no setting", code="FS4102")
    place[last] = _value(text)


def _meant(path: Path) -> str:
    """Name the config beside `path` and the shipped one that are most like it."""
    # Endings are left out, as they make all names alike.
    beside = {file.stem: str(file) for file in path.parent.glob("*.toml")}
    shipped = {
        file.relative_to(CONFIGS).with_suffix("").as_posix()
        for file in CONFIGS.rglob("*.toml")
    }
    names = []
    if near := most_alike(path.stem, beside):
        names.append(f"'{beside[near]}'")
    wanted = path.with_suffix("") if path.name else path  # "." has no ending
    # As a checkout has them in `configs`.
    wanted_name = wanted.as_posix().removeprefix("configs/")
    if near := most_alike(wanted_name, shipped, 0.7):
        names.append(f"the shipped '{near}'")
    return f" (did you mean {' or '.join(names)}?)" if names else ""


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if path.suffix != ".json":
        return tomllib.loads(text.replace("\r\n", "\n"))
    content = parsed(text)
    if not isinstance(content, dict):
        raise ConfigError(f"'{path}' holds no settings", code="FS4103")
    return content


def _check_shape(path: Path, table: dict[str, Any]) -> None:
    """Refuse what no config needs; without recursion, as the depth is in question."""
    level: list[Any] = [table]
    nodes = 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise ConfigError(f"'{path}' has over {MAX_NODES} values", code="FS4103")
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ConfigError(f"'{path}' is nested over {MAX_DEPTH} deep", code="FS4103")


def _descend(place: Any, name: str, path: str) -> Any:
    if isinstance(place, list):
        if name.isdigit() and int(name) < len(place):
            return place[int(name)]
        raise ConfigError(
            f"'{path}': there are {len(place)} entries, numbered from 0", code="FS4102"
        )
    inner = place.setdefault(name, {})
    if not isinstance(inner, dict | list):
        raise ConfigError(f"'{path}': '{name}' is a value, not a section", "FS4102")
    return inner


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text  # a word without quotes
