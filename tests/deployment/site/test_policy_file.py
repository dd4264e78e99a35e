"""The file that a policy begins with says what holds without it, line by line."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from fedsemi.config.method_settings import parsed
from fedsemi.deployment.site.policy import Policy, Rules, read_policy, rule_values
from fedsemi.deployment.site.policy_file import start_text, write_start
from fedsemi.errors import CannotCreate


def test_the_start_changes_nothing(tmp_path: Path) -> None:
    path = write_start(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_policy(tmp_path).sha256 == Policy().sha256


def test_every_rule_has_a_line_and_a_comment_above_it() -> None:
    lines = start_text().splitlines()
    for rule, value in rule_values(Rules()):
        key = rule.split(".")[1]
        starts = f"# {key} = " if value is None else f"{key} = "
        [at] = [i for i, line in enumerate(lines) if line.startswith(starts)]
        assert lines[at - 1].startswith("# "), rule
    assert max(map(len, lines)) <= 88


def test_what_is_commented_out_is_right_when_it_is_not() -> None:
    text = start_text().replace("# epsilon = ", "epsilon = ")
    assert parsed(Rules, tomllib.loads(text)).budget.epsilon == 8.0


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(CannotCreate, match="FS1200 there is no folder"):
        write_start(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
