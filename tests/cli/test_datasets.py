"""What `fedsemi datasets` prints and fetches."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from tests.data.official_server import Shop, serving
from typer.testing import CliRunner

import fedsemi
from fedsemi.cli import app
from fedsemi.cli import datasets as command
from fedsemi.data import download
from fedsemi.data.datasets import DATASETS
from fedsemi.data.readers.source import DatasetSource, Official, OfficialFile
from fedsemi.errors import ConfigError, DataError

CONTENT = bytes(range(256)) * 40
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "svhn").mkdir()
    (tmp_path / "svhn" / "svhn.npz").touch()
    done = CliRunner().invoke(app, ["datasets", "--data-dir", str(tmp_path)])
    assert done.exit_code == 0
    return done.output


def test_sources_and_licenses_are_named_for_all_data_sets(printed: str) -> None:
    words = " ".join(printed.split())
    for source in DATASETS.values():
        assert isinstance(source, DatasetSource)
        assert f"{source.license} {source.where}" in words
    assert max(map(len, printed.splitlines())) <= 80


def test_it_says_what_is_at_hand_and_where_it_looked(
    printed: str, tmp_path: Path
) -> None:
    rows = [line.split() for line in printed.splitlines()]
    at_hand = {row[0]: row[-1] for row in rows if row and row[-1] in ("yes", "no")}
    assert at_hand["digits"] == at_hand["svhn"] == "yes"
    assert at_hand["mnist"] == "no"
    assert f"looked for in {tmp_path};" in printed.replace("\n", "")


@pytest.mark.parametrize("name", DATASETS.own)
def test_one_is_shown_with_license_citation_and_what_belongs_where(
    name: str, tmp_path: Path
) -> None:
    words = ["datasets", name, "--data-dir", str(tmp_path)]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "400"})
    assert done.exit_code == 0
    source = DATASETS[name]
    assert isinstance(source, DatasetSource)
    for fact in (source.license, source.citation, source.normalization):
        assert fact and fact in done.output
    for path, file in (
        source.official.places(tmp_path).items() if source.official else ()
    ):
        assert f"{file.url} belongs at {path}" in done.output
        assert file.sums and file.name == path.name


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """Let the files of pathmnist come from this machine."""
    monkeypatch.setattr(download, "PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(Shop({"pathmnist.npz": CONTENT})) as shop:
        source = DATASETS.own["pathmnist"]
        assert isinstance(source, DatasetSource)
        file = OfficialFile(shop.url("pathmnist.npz"), (MD5,))
        local = replace(source, official=Official("medmnist", (file,)))
        monkeypatch.setitem(DATASETS.own, "pathmnist", local)  # type: ignore[arg-type]
        yield shop


def get(folder: Path, *words: str, typed: str | None = None) -> Result:
    command = ["datasets", "get", "pathmnist", "--data-dir", str(folder), *words]
    return CliRunner().invoke(app, command, input=typed, env={"COLUMNS": "400"})


def test_it_fetches_to_where_the_reader_looks(shop: Shop, tmp_path: Path) -> None:
    done = get(tmp_path)
    assert done.exit_code == 0, done.exception
    path = tmp_path / "medmnist" / "pathmnist.npz"
    assert path.read_bytes() == CONTENT
    assert f"saved {path}; its sum is right" in done.output
    assert "license: CC BY 4.0" in done.output and "Kather" in done.output
    source = DATASETS["pathmnist"]
    assert isinstance(source, DatasetSource) and source.at_hand([tmp_path])
    again = get(tmp_path)
    assert f"{path} is there" in again.output
    assert [verb for verb, _, _ in shop.asked] == ["HEAD", "GET"]


@pytest.mark.parametrize("reason", ["large", "unknown"])
def test_it_asks_before_large_files_and_those_of_unknown_size(
    reason: str, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "large":
        monkeypatch.setattr(command, "LARGE", 10_000)
    else:
        shop.head = False
    declined = get(tmp_path, typed="n\n")
    assert declined.exit_code == 0 and "nothing was fetched" in declined.output
    assert not (tmp_path / "medmnist").exists()
    nobody = get(tmp_path)
    assert isinstance(nobody.exception, ConfigError)
    assert nobody.exception.code == "FS3056" and "--yes" in str(nobody.exception)
    assert get(tmp_path, typed="y\n").exit_code == 0
    assert (tmp_path / "medmnist" / "pathmnist.npz").is_file()


def test_yes_asks_nobody(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LARGE", 1)
    assert get(tmp_path, "--yes").exit_code == 0


def test_a_file_whose_publishers_give_no_sum_is_said_to_be_unchecked(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = DATASETS.own["pathmnist"]
    assert isinstance(source, DatasetSource)
    file = OfficialFile(shop.url("pathmnist.npz"))
    open_ = replace(source, official=Official("medmnist", (file,)))
    monkeypatch.setitem(DATASETS.own, "pathmnist", open_)  # type: ignore[arg-type]
    assert "it was not checked" in get(tmp_path).output


def test_a_file_that_is_there_and_damaged_is_named(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "medmnist").mkdir()
    (tmp_path / "medmnist" / "pathmnist.npz").write_bytes(b"cut off")
    assert str(get(tmp_path).exception).startswith("FS3002")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["get", "chestmnist"], "FS3050", "several classes at once"),
        (["chestmnist"], "FS3050", "several classes at once"),
        (["get", "pathmist"], "FS3003", "did you mean 'pathmnist'"),
        (["get", "isic18"], "FS3055", "HAM10000_metadata.csv"),
        (["get"], "FS4107", "fedsemi datasets get NAME"),
        (["get", "mnist", "svhn"], "FS4107", "one data set"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(
    words: list[str], code: str, said: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(app, ["datasets", *words, "--data-dir", str(tmp_path)])
    assert isinstance(done.exception, ConfigError | DataError)
    assert done.exception.code == code and said in str(done.exception)


def test_what_needs_no_file_is_at_hand() -> None:
    done = CliRunner().invoke(app, ["datasets", "get", "digits"])
    assert done.exit_code == 0 and "digits is at hand" in done.output


_SCRIPT = """
import sys
from dataclasses import replace
from fedsemi.cli import main
from fedsemi.data.datasets import DATASETS
from fedsemi.data.readers.source import Official, OfficialFile
url, md5 = sys.argv.pop(), sys.argv.pop()
files = (OfficialFile(url, (md5,)),)
own = replace(DATASETS.own["pathmnist"], official=Official("medmnist", files))
DATASETS.own["pathmnist"] = own
main()
"""


def test_ctrl_c_is_one_line_and_the_same_command_goes_on(
    shop: Shop, tmp_path: Path
) -> None:
    shop.pace = 0.3
    words = ["datasets", "get", "pathmnist", "--data-dir", str(tmp_path)]
    source = str(Path(fedsemi.__file__).parents[1])
    part = tmp_path / "medmnist" / "pathmnist.npz.part"
    program = [sys.executable, "-c", _SCRIPT, *words, MD5, shop.url("pathmnist.npz")]
    with subprocess.Popen(
        program,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": source},
        # A shell that starts the tests in the background lets them hear no Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        deadline = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 75
    (line,) = said.splitlines()
    assert "FS1002 stopped with" in line and "goes on from there" in line
    shop.pace = 0.0
    assert get(tmp_path).exit_code == 0
    assert shop.asked[-1][2] is not None  # a part was asked for, not the whole
