"""The picture of an audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.valuation.test_audit_words import NAMES, PLACE, audited

from fedsemi.errors import CannotCreate
from fedsemi.valuation.audit_plot import save_plot

FOUND = replace(audited(0.4, 0.3, 0.2, 0.1), places=(PLACE,))


@pytest.mark.parametrize("places", [(PLACE,), ()])
def test_an_audit_is_drawn_also_where_shares_are_equal(places, tmp_path: Path):
    save_plot(replace(FOUND, places=places), NAMES, tmp_path / "weights.png")
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(CannotCreate, match="cannot write the plot"):
        save_plot(FOUND, NAMES, tmp_path / "none" / "weights.png")
