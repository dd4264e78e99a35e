"""Write docs/settings.md, from what `fedsemi settings` prints: `make settings`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from fedsemi.config.described import (
    Described,
    learner_settings,
    method_settings_of,
    sections,
)
from fedsemi.methods import METHODS

_OPENING = """\
# Every setting

A config is a TOML file of the sections below. `--set section.key=value` changes one \
setting for one command, `fedsemi settings WORD` looks one up without a browser, and \
`fedsemi configs NAME` copies a config to start from. A typing slip is refused with \
the nearest known name.
"""
_STAGES = """\
A config has one `[[stages]]` for each stage, one after the other. `stages.0` is the \
first in `--set`. A stage takes the settings of its [method](#settings-of-methods) \
as well.
"""
_MEMBERSHIP = """\
One entry for each site that does not take part in all rounds, `membership.0` being \
the first in `--set`; see [sites that come and go](coming-and-going.md).
"""
_LISTS = {"membership": _MEMBERSHIP, "stages": _STAGES}
_METHODS = """\
They stand in `[[stages]]` beside `method` and `rounds`. `fedsemi methods NAME` says \
what a method sends.
"""
_LEARNERS = """\
How unlabeled clients learn, where the method leaves it open: \
`learner = { name = "pseudo-label", cutoff = 0.9 }` in a stage.
"""


def page() -> str:
    """Return the text of docs/settings.md."""
    lines = [_OPENING]
    for section, found in sections():
        lines += [f"## {_title(section)}", ""]
        lines += [_LISTS[section]] if section in _LISTS else []
        lines += _table(found)
    lines += ["## Settings of methods", "", _METHODS]
    for name, method in sorted(METHODS.items()):
        lines += [f"### {name}", "", *_table(method_settings_of(method))]
    lines += ["## Settings of learners", "", _LEARNERS]
    for name, found in learner_settings():
        lines += [f"### {name} as learner", "", *_table(found)]
    return "\n".join(lines).rstrip() + "\n"


def _title(section: str) -> str:
    several = section in ("membership", "stages")
    brackets = f"[[{section}]]" if several else f"[{section}]"
    return f"`{brackets}`" if section else "Top of the config"


def _table(found: Iterable[Described]) -> Iterator[str]:
    found = list(found)
    if not found:
        yield from ("None.", "")
        return
    yield "| setting | type | default | meaning |"
    yield "|---|---|---|---|"
    for each in found:
        said = each.default == "required" or " " in each.default
        default = each.default if said else f"`{each.default}`"
        cells = (f"`{each.path}`", each.kind, default, each.meaning)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
