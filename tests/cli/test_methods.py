"""What `fedsemi methods` prints."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app, methods
from fedsemi.cli.methods import sent, shown, total
from fedsemi.errors import ConfigError
from fedsemi.methods import METHODS
from fedsemi.simulation.ledger import Ledger

LEDGER = Ledger(
    model=1000,
    transfers=20,
    fields={"model": 1000, "diversity": 40, "counts": 24},
    up=10_640,
    down=10_000,
    first_extra=0,
)


def printed(*words: str, columns: int = 80) -> str:
    done = CliRunner().invoke(app, ["methods", *words], env={"COLUMNS": str(columns)})
    assert done.exit_code == 0, done.exception
    return done.output


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (999_499, "999 kB"),
        (1_000_000, "1 MB"),
        (2_600_000, "3 MB"),
    ],
)
def test_bytes_are_written_in_the_largest_unit_that_fits(
    number: int, text: str
) -> None:
    assert shown(number) == text


def test_what_a_site_sends_is_the_model_and_what_else_by_name() -> None:
    assert sent(LEDGER) == "M, diversity 40 B, counts 24 B"


def test_a_round_is_counted_in_models_and_bytes_beside_them() -> None:
    # 20,640 bytes both ways, of which the model 20 times is 20,000.
    assert total(LEDGER) == "20 M + 640 B"


def test_the_settings_of_a_method_are_shown_with_their_defaults() -> None:
    text = printed("semianagg", columns=200)
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert text.lstrip().startswith("semianagg: ")
    assert "'paper'" in rows["rule"] and "0.5" in rows["labeled_share"]
    assert "{ " in rows["learner"] and "setup" not in rows


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_settings_to_show_and_names_its_paper(name: str) -> None:
    text = " ".join(printed(name).split())
    assert text.startswith(f"{name}: ")
    origin = METHODS[name].provenance
    assert f"{origin.paper} {origin.year}" in text


def test_a_slip_in_the_name_gets_the_nearest_method() -> None:
    done = CliRunner().invoke(app, ["methods", "semiangg"])
    assert isinstance(done.exception, ConfigError)
    assert "did you mean 'semianagg'" in str(done.exception)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measure nothing; return which methods would have been."""
    names: list[str] = []

    def measure(method: str, **settings: int) -> Ledger:
        names.append(method)
        assert settings == ({"unlabeled_after": 0} if method == "fedirm" else {})
        return LEDGER

    monkeypatch.setattr(methods, "measure", measure)
    return names


def test_the_list_has_a_line_for_each_method_with_its_measured_traffic(
    measured: list[str],
) -> None:
    text = printed(columns=300)
    assert measured == list(METHODS)
    rows = [line.split()[0] for line in text.splitlines() if "20 M + 640 B" in line]
    assert rows == list(METHODS)


def test_the_list_is_cut_in_two_where_the_terminal_is_narrow(
    measured: list[str],
) -> None:
    wide, narrow = printed(columns=300), printed(columns=100)
    assert wide.count("fedavg-semi ") < narrow.count("fedavg-semi ")
    assert max(map(len, narrow.splitlines())) <= 100
    for title in ("a site sends", "local learner", "aggregation", "paper"):
        assert title in wide and title in narrow


def test_methods_with_a_note_are_marked(measured: list[str]) -> None:
    lines = printed(columns=300).splitlines()
    marked = {line.split()[0] for line in lines if line.rstrip().endswith(" *")}
    assert marked == {name for name in METHODS if METHODS[name].provenance.note}
