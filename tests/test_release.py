"""One version, one form, and commands that exist: what a release leans on."""

from __future__ import annotations

import importlib.util
import re
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

import fedsemi

ROOT = Path(fedsemi.__file__).parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


@pytest.fixture(scope="module")
def tag() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tag", ROOT / "tools" / "tag.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_has_one_form_and_is_what_is_installed(tag: ModuleType) -> None:
    assert tag.VERSION.fullmatch(tag.version())
    assert fedsemi.__version__ == tag.version(), "install again: make .venv/dev"
    assert f"\nversion: {tag.version()}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize("text", ["1.2", "01.2.3", "1.2.3.4", "v1.2.3", "1.2.3rc0"])
def test_other_forms_of_a_version_are_refused(tag: ModuleType, text: str) -> None:
    assert not tag.VERSION.fullmatch(text)


def test_the_changelog_opens_with_what_is_unreleased_then_newest_first(
    tag: ModuleType,
) -> None:
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.M)
    assert headings[0] == "[Unreleased]"
    releases = tag.releases(CHANGELOG)
    assert headings[1:] == [f"[{name}] - {day}" for name, day in releases]
    assert all(tag.VERSION.fullmatch(name) for name, _ in releases)
    days = [date.fromisoformat(day) for _, day in releases]
    assert days == sorted(days, reverse=True)
    assert not releases or releases[0][0] == tag.version()


def _project(folder: Path, version: str, release: str, cited: str) -> Path:
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [Unreleased]\n\n## [{release}] - 2030-01-02\n"
    )
    (folder / "CITATION.cff").write_text(
        f"type: software\nversion: {cited}\ntitle: x\n"
    )
    return folder


def test_files_that_agree_can_be_tagged(tag: ModuleType, tmp_path: Path) -> None:
    assert tag.faults(_project(tmp_path, "1.2.0rc1", "1.2.0rc1", "1.2.0rc1")) == []


def test_each_disagreement_is_named(tag: ModuleType, tmp_path: Path) -> None:
    one, two = tag.faults(_project(tmp_path, "1.3.0", "1.2.0", "1.2.0"))
    assert one == "CHANGELOG.md: the newest release is 1.2.0, not 1.3.0"
    assert two == "CITATION.cff: its version is not 1.3.0"
    (odd,) = tag.faults(_project(tmp_path, "1.3", "1.3", "1.3"))
    assert odd.startswith("pyproject.toml: '1.3' is not")


def _commands(path: str) -> list[str]:
    text = (ROOT / path).read_text("utf-8")
    return re.findall(r"^\s*(?:- )?run: (.*)$", text, re.M)


def test_continuous_integration_runs_nothing_but_make_targets() -> None:
    commands = _commands(".github/workflows/ci.yml")
    assert {"make check", "make test", "make test-deployment", "make audit"} <= set(
        commands
    )
    for command in commands:
        make, target = command.split()
        assert make == "make" and target in TARGETS


@pytest.mark.parametrize("page", ["docs/releasing.md", "CONTRIBUTING.md"])
def test_the_make_targets_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    named = re.findall(r"\bmake ([a-z][a-z -]*[a-z])`", text)
    named += re.findall(r"^make ([a-z-]+)", text, re.M)
    assert named
    assert {word for words in named for word in words.split()} <= TARGETS


def test_the_hooks_before_a_commit_are_tools_of_make_check() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    tools = set(re.findall(r"entry: \.venv/bin/(\S+(?: (?:check|format))?)", hooks))
    check = (ROOT / "Makefile").read_text("utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert tools == set(re.findall(r"\$\(BIN\)/(\S+(?: (?:check|format))?)", check))
    assert set(re.findall(r"repo: (\S+)", hooks)) == {"local"}
