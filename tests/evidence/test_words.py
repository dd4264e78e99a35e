"""What the words of the results mean."""

from __future__ import annotations

from pathlib import Path

import fedsemi
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.words import WORDS, words_table

ROOT = Path(fedsemi.__file__).parents[2]


def test_results_and_glossary_explain_every_word() -> None:
    for page in ("docs/results.md", "docs/glossary.md"):
        assert words_table() in (ROOT / page).read_text("utf-8")
    assert "labels after the warm-up" in WORDS


def test_the_running_mean_keeps_what_it_is_said_to_keep() -> None:
    content = read_profile("medium").content(setting("svhn", "uniform"), 1)
    kept = content["evaluation"]["running_mean"]
    assert f"keeps {100 * kept:.0f} % of itself" in WORDS["running mean"]
