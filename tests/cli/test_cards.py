"""What `fedsemi settings-cards` prints."""

from __future__ import annotations

from typer.testing import CliRunner

from fedsemi.cards import CARDS
from fedsemi.cli import app
from fedsemi.errors import ConfigError


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, ["settings-cards", *words], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.exception
    return done.output


def test_the_list_has_every_card_within_eighty_columns():
    lines = printed().splitlines()
    assert max(map(len, lines)) <= 80
    names = [line.split()[0] for line in lines if line.startswith((" L",))]
    assert names == list(CARDS)


def test_a_card_shows_its_lines_of_a_config_and_who_is_made_for_it():
    text = printed("ls")
    assert 'card = "LS"' in text and "labels_per_class = 25" in text
    made, others = text.split("made for it")[1].split("for others")
    assert "supervised" in made and "rscfed" in others


def test_a_slip_gets_the_nearest_card():
    done = CliRunner().invoke(app, ["settings-cards", "LAD"])
    assert isinstance(done.exception, ConfigError)
    assert "did you mean 'LAC'" in str(done.exception)
