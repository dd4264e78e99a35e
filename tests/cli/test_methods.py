"""What `fedsemi methods` prints."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from subprocess import run

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.cli.methods import commands_for
from fedsemi.cli.reference import reference
from fedsemi.config.experiment import load_config
from fedsemi.config.files import find_config
from fedsemi.errors import ConfigError
from fedsemi.methods import METHODS


def printed(*words: str, columns: int = 80) -> str:
    done = CliRunner().invoke(app, ["methods", *words], env={"COLUMNS": str(columns)})
    assert done.exit_code == 0, done.exception
    return done.output


def test_the_list_and_one_method_are_shown_without_torch() -> None:
    code = """
import sys
from typer.testing import CliRunner
from fedsemi.cli import app
for words in (["methods"], ["methods", "semianagg"], ["methods", "semiangg"]):
    CliRunner().invoke(app, words)
print([name for name in ("torch", "numpy", "pydantic") if name in sys.modules])
"""
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_method_is_shown_with_paper_traffic_settings_and_what_to_type() -> None:
    text = printed("semianagg", columns=200)
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert text.startswith("semianagg: ")
    assert "SemiAnAgg, TMLR 2024" in rows["paper"]
    assert "M, diversity 16 B, counts 24 B" in text and "20 M + 800 B" in text
    assert '"paper"' in rows["rule"] and "Eq. 4 as published" in rows["rule"]
    assert "0.5" in rows["labeled_share"] and "setup" not in rows
    assert "fedsemi configs svhn/semianagg" in rows["start"]
    assert rows["as"].endswith("fedsemi run svhn/semianagg")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_names_its_paper_and_commands_that_fit_it(name: str) -> None:
    text = " ".join(printed(name, columns=200).split())
    origin = METHODS[name].provenance
    assert text.startswith(f"{name}: ") and origin.reference in text
    method = reference().method(name)
    assert method is not None
    for command in commands_for(method).values():
        _, verb, config, *rest = shlex.split(command)
        assert command in text
        assert find_config(Path(config)).is_file()
        if verb == "run":
            overrides = rest[1:]
            stages = load_config(Path(config), overrides).stages
            assert name in [stage.method for stage in stages]


def test_a_slip_in_the_name_gets_the_nearest_method() -> None:
    done = CliRunner().invoke(app, ["methods", "semiangg"])
    assert isinstance(done.exception, ConfigError)
    assert "did you mean 'semianagg'" in str(done.exception)


def test_a_method_from_outside_is_measured_when_it_is_asked_for() -> None:
    text = printed("fedsemi.methods.semianagg:SemiAnAgg", columns=200)
    assert "M, diversity 16 B, counts 24 B" in text and "20 M + 800 B" in text
    assert "stages.1.method=fedsemi.methods.semianagg:SemiAnAgg" in text


def test_the_list_has_a_line_for_each_method() -> None:
    lines = printed(columns=300).splitlines()
    assert [line.split()[0] for line in lines if " M + " in line] == list(METHODS)


def test_the_list_is_cut_in_two_where_the_terminal_is_narrow() -> None:
    wide, narrow = printed(columns=300), printed(columns=100)
    assert wide.count("fedavg-semi ") < narrow.count("fedavg-semi ")
    assert max(map(len, narrow.splitlines())) <= 100
    for title in ("a site sends", "local learner", "aggregation", "paper"):
        assert title in wide and title in narrow


def test_methods_with_a_note_are_marked() -> None:
    lines = printed(columns=300).splitlines()
    marked = {line.split()[0] for line in lines if line.rstrip().endswith(" *")}
    assert marked == {name for name in METHODS if METHODS[name].provenance.note}
