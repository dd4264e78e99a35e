"""The shipped configs are written from the profile: header, settings, nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.shipped import SHIPPED, arm_name, text_of, write_all


@pytest.fixture(scope="module")
def paper() -> Profile:
    return read_profile("paper")


def header(text: str) -> str:
    lines = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    return " ".join(lines)


def test_every_config_names_an_arm() -> None:
    for configs in SHIPPED.values():
        assert {arm_name(config) for config in configs} <= set(ARMS)
        assert len(set(configs)) == len(configs)


@pytest.mark.parametrize("config", ["semianagg", "cbafed", "orchestra-semianagg"])
def test_the_text_is_toml_that_says_what_the_profile_says(
    config: str, paper: Profile
) -> None:
    content = tomllib.loads(text_of("svhn", config, paper))
    wanted = paper.experiment(setting("svhn", arm_name(config)), 1)
    assert make_experiment(content) == wanted


def test_the_header_has_the_number_of_the_papers_table(paper: Profile) -> None:
    told = header(text_of("svhn", "semianagg", paper))
    assert told.startswith("SVHN, SemiAnAgg, paper's rule: accuracy 91.69 % in Table 1")
    # Table 1 has no FedAvg; the number on ISIC-18 is that of Table 3.
    told = header(text_of("svhn", "fedavg", paper))
    assert "no number in the tables of SemiAnAgg" in told


def test_the_header_says_what_is_our_reading(paper: Profile) -> None:
    assert "not the authors' method" in header(text_of("svhn", "isofed", paper))


def test_no_line_of_a_header_is_longer_than_a_line_of_code(paper: Profile) -> None:
    for dataset, configs in SHIPPED.items():
        for config in configs:
            lines = text_of(dataset, config, paper).splitlines()
            assert max(len(line) for line in lines if line.startswith("#")) <= 88


def test_the_guard_is_mentioned_only_where_it_is_on(paper: Profile) -> None:
    assert "[guard]" not in text_of("svhn", "semianagg", paper)
    guarded = read_profile("paper", ["guard.enabled=true"])
    assert "[guard]\nenabled = true\n" in text_of("svhn", "semianagg", guarded)


def test_all_of_them_are_written_into_a_folder_that_is_empty(tmp_path: Path) -> None:
    write_all(tmp_path)
    written = {
        (path.parent.name, path.stem) for path in sorted(tmp_path.rglob("*.toml"))
    }
    assert written == {(d, c) for d, configs in SHIPPED.items() for c in configs}
