"""Options that commands share."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from fedsemi.cli import app
from fedsemi.cli.options import require_flower
from fedsemi.errors import ConfigError


def test_a_command_that_needs_flower_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("fedsemi.deployment.flower_names.version", nothing)
    with pytest.raises(ConfigError, match=r"FS5004 .*pip install 'fedsemi\[flower\]'"):
        require_flower()


def test_every_command_says_in_a_sentence_what_it_does() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        first = (command.callback.__doc__ or "").split("\n")[0]
        assert first[:1].isupper() and first[-1] in ".:", command.name
