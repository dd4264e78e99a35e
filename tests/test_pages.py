"""What pages say can be typed, is typed: in an empty folder, in their order.

Fast blocks are run here; `make test-docs` runs all. A block that nobody runs says why.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from fedsemi.config.experiment import make_experiment

from .blocks import PAGES, ROOT, RUN, SHELL, SHOWN, Block, blocks_of, commands
from .command_line import fault
from .run_page import run_python, run_shell

BLOCKS = {page: blocks_of(page) for page in PAGES}
EVERY = [block for found in BLOCKS.values() for block in found]
TYPED = [block for block in EVERY if block.language in SHELL]
SKIPPED = [block for block in EVERY if block.skipped]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
OTHERS = {"export", "python", "pip", "mkdir", "mv", "truncate", "."}
"""Commands of others that pages use."""


def each(blocks: list[Block]) -> list[object]:
    return [pytest.param(block, id=block.place) for block in blocks]


def of_pages(blocks: list[Block], kind: str) -> list[object]:
    """List the pages with blocks to run in the shell or in Python."""
    languages = SHELL if kind == "shell" else ("python",)
    wanted = [b for b in blocks if b.language in languages and not b.file]
    pages = dict.fromkeys(block.page for block in wanted)
    return [pytest.param(kind, page, id=f"{page.name}-{kind}") for page in pages]


RUNNABLE = [b for b in EVERY if b.language in RUN and not b.skipped]
FAST = [block for block in RUNNABLE if not block.slow]
SLOW = [block for block in RUNNABLE if block.slow]
KINDS = {"shell": run_shell, "python": run_python}


@pytest.mark.parametrize(
    ("kind", "page"), [*of_pages(FAST, "shell"), *of_pages(FAST, "python")]
)
def test_what_is_soon_over_works_as_the_page_says(
    kind: str, page: Path, tmp_path: Path
) -> None:
    wanted = [b for b in BLOCKS[page] if not b.skipped and not b.slow]
    KINDS[kind](wanted, tmp_path / "empty")


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("kind", "page"), [*of_pages(SLOW, "shell"), *of_pages(SLOW, "python")]
)
def test_all_of_a_page_works_in_its_order(
    kind: str, page: Path, tmp_path: Path
) -> None:
    wanted = [block for block in BLOCKS[page] if not block.skipped]
    KINDS[kind](wanted, tmp_path / "empty")


@pytest.mark.parametrize("block", each(SKIPPED))
def test_what_is_not_run_has_a_reason(block: Block) -> None:
    pytest.skip(f"{block.place}: {block.skipped}")


def test_few_blocks_are_not_run() -> None:
    print(*(f"{block.place}: {block.skipped}" for block in SKIPPED), sep="\n")
    assert len(SKIPPED) <= 12
    assert len(RUNNABLE) > 3 * len(SKIPPED)


@pytest.mark.parametrize("block", each(TYPED))
def test_a_command_of_a_block_can_be_typed_even_if_it_is_not_run(block: Block) -> None:
    for text in {block.text, block.typed()}:
        script = Block(block.page, block.line, block.language, text).typed()
        typed = list(commands(script))
        for words in typed[:-1] if block.ends_with else typed:  # a slip, shown as one
            if words[0] == "fedsemi":
                assert fault(words[1:]) is None, f"{block.place}: {' '.join(words)}"
            elif words[0] == "make":
                assert set(words[1:]) <= TARGETS
            else:
                assert words[0] in OTHERS, f"{block.place}: {words[0]} is not known"


@pytest.mark.parametrize("block", each([b for b in EVERY if b.language == "toml"]))
def test_toml_is_read_and_whole_configs_are_configs(block: Block) -> None:
    content = tomllib.loads(block.text)
    if {"data", "stages"} <= content.keys() and ":" not in block.text:
        make_experiment(content)


def test_every_block_has_a_language_and_commands_hide_in_no_other() -> None:
    for block in EVERY:
        assert block.language in (*RUN, *SHOWN), f"{block.place}: {block.language!r}"
        if block.language not in SHELL:
            assert not re.search(r"^\$ ?fedsemi", block.text, re.M), block.place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_is_shown_outside_of_a_fence(page: Path) -> None:
    outside = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    assert not re.search(r"^ {4,}(fedsemi|make|pip) ", outside, re.M)
