"""Folders, files, classes and configs may be named by an enemy of the terminal."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.data.pictures import make_site, save_picture

import fedsemi
from fedsemi.cli import main
from fedsemi.config.experiment import load_config
from fedsemi.errors import StorageError
from fedsemi.report.live import following
from fedsemi.text.printable import printable

FORGED = "a\nsite 9 joined"
CLEAR = "b\x1b[2Jb"
SHORT_CLEAR = "c\x9b2Jc"
REVERSED = "d\u202egnp"
MARKUP = "[bold red]e[bold]"
EMOJI = ":smile:"
FORMULA = "$\\frac$"
NAMES = (FORGED, CLEAR, SHORT_CLEAR, REVERSED, MARKUP, EMOJI, FORMULA)
LATIN = os.fsdecode(b"caf\xe9")

Screen = Callable[..., tuple[int, str]]


@pytest.fixture
def screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Screen:
    """Run a command in a fresh folder; return its exit code and all that it shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")

    def show(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["fedsemi", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        told = capsys.readouterr()
        return int(code or 0), told.out + told.err

    return show


def assert_harmless(text: str) -> None:
    """Nothing but what can be seen, and no line that a name has made."""
    lines = text.replace("\r\n", "\n").split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("site 9 joined") for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_init_and_check_show_names_as_they_are(name: str, screen: Screen) -> None:
    make_site(Path(name), {name: 3, "dog": 3})
    (Path(name) / f"{name}.png").write_bytes(b"no picture")
    code, text = screen("init", name, "--out", f"{name}.toml")
    assert code == 0
    assert_harmless(text)
    assert f"{printable(name)} 3" in text and "dog 3" in text
    sites = load_config(Path(f"{name}.toml")).sites
    assert sites is not None and name in sites.classes
    assert_harmless(Path(f"{name}.toml").read_text())
    code, text = screen("check", f"{name}.toml")
    assert code == 65
    assert_harmless(text)
    assert f"{printable(name)}.png: cannot be decoded" in text
    next_line = screen("init", name, "--out", f"{name}.toml", "--force")[1]
    word = next_line.split("next: fedsemi check ")[1].split("; fedsemi run")[0]
    bash = ["bash", "-c", f"printf %s {word}"]
    told = subprocess.run(bash, capture_output=True, check=True).stdout
    assert told == os.fsencode(f"{name}.toml")


def test_a_run_of_such_sites_and_classes(screen: Screen) -> None:
    make_site(Path(FORGED), dict.fromkeys(NAMES, 1))
    make_site(Path(CLEAR), {"": 2}, start=50)
    make_site(Path("test"), dict.fromkeys(NAMES, 1), start=90)
    assert screen("init", FORGED, CLEAR, "--test", "test")[0] == 0
    short = ["--set", "stages.0.rounds=1", "--set", "stages.1.rounds=0"]
    quick = [*short, "--set", "model.width=2", "--workers", "1"]
    code, text = screen("run", "federation.toml", *quick, "--out", LATIN)
    assert code == 0
    assert_harmless(text)
    assert f"client 0 = {printable(FORGED)}: 7 labeled" in text
    for words in (["report", LATIN], ["diff", LATIN, LATIN]):
        code, text = screen(*words)
        assert code == 0
        assert_harmless(text)
    page = Path("report.html").read_text("utf-8")
    assert_harmless(page)
    assert json.dumps(printable(CLEAR))[1:-1] in page
    with following(Path(LATIN)) as live:
        for path in ("", "data"):
            with urlopen(f"{live.address}{path}", timeout=30) as answer:
                assert_harmless(answer.read().decode())
    assert_harmless(repr(fedsemi.load(LATIN)))
    save_picture(Path("photos") / LATIN / f"{FORGED}.png", 7)
    assert screen("predict", LATIN, "photos", "--out", "classes.csv")[0] == 0
    written = Path("classes.csv").read_bytes()
    assert os.fsencode(f'"{LATIN}/{FORGED}.png"') in written


def test_a_plug_in_that_is_broken_on_purpose_is_one_row(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def announced(group: str, path: object) -> dict[str, EntryPoint]:
        return {CLEAR: EntryPoint(CLEAR, f"{REVERSED}:x", group)}

    monkeypatch.setattr("fedsemi.plugins.registry._announced", announced)
    code, text = screen("plugins")
    assert code == 0
    assert_harmless(text)
    assert printable(CLEAR) in text


def test_an_error_that_python_prints_is_harmless(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as raised:
        fedsemi.load(tmp_path / CLEAR)
    assert_harmless(str(raised.value))
    assert printable(CLEAR) in str(raised.value)


def test_a_partition_into_such_classes(screen: Screen) -> None:
    make_site(Path(FORGED), dict.fromkeys(NAMES, 2))
    assert screen("init", FORGED)[0] == 0
    code, text = screen("partition", "federation.toml", "--out", MARKUP)
    assert code == 0
    assert_harmless(text)
    assert all(printable(name) in text for name in NAMES)


@pytest.mark.slow
def test_predictions_on_a_terminal_and_for_a_program(
    screen: Screen, real_run: Path
) -> None:
    save_picture(Path("photos") / LATIN / f"{FORGED}{CLEAR}.png", 7)
    words = ("predict", str(real_run), "photos")
    shown = seen_on_a_terminal(*words)
    assert_harmless(shown)
    assert printable(f"{LATIN}/{FORGED}{CLEAR}.png") in shown
    command = [sys.executable, "-m", "fedsemi", *words]
    told = subprocess.run(command, capture_output=True, check=True).stdout
    assert os.fsencode(f'"{LATIN}/{FORGED}{CLEAR}.png"') in told


def seen_on_a_terminal(*words: str) -> str:
    reader, writer = pty.openpty()
    source = str(Path(fedsemi.__file__).parents[1])
    command = [sys.executable, "-m", "fedsemi", *words]
    environment = os.environ | {"PYTHONPATH": source}
    with subprocess.Popen(command, stdout=writer, env=environment) as process:
        os.close(writer)
        text = b""
        try:
            while piece := os.read(reader, 1 << 16):
                text += piece
        except OSError:  # how Linux says that nobody writes any more
            pass
        finally:
            os.close(reader)
    assert process.returncode == 0
    return text.decode()


@pytest.mark.parametrize("command", ["init", "check"])
def test_a_site_or_class_that_is_no_text_is_one_line(
    command: str, screen: Screen
) -> None:
    make_site(Path("a"), {LATIN: 3, "dog": 3})
    make_site(Path(LATIN), {"cat": 3, "dog": 3})
    for folder in ("a", LATIN):
        code, text = screen(command, folder)
        assert code == 65
        assert text.startswith(r"fedsemi: FS3030 'caf\udce9' is not UTF-8 text")
        assert_harmless(text)


def test_a_label_that_is_no_text_is_one_line(screen: Screen) -> None:
    site = make_site(Path("a"), {"": 4})
    rows = b"file,label\n0.png,caf\xe9\n1.png,dog\n"
    (site / "labels.csv").write_bytes(rows)
    code, text = screen("init", "a")
    assert code == 65 and "FS3030" in text
    assert_harmless(text)


def test_bad_rows_of_a_table_are_shown_harmless(screen: Screen) -> None:
    table = make_site(Path("a"), {"": 4}) / "labels.csv"
    rows = ["file,label", "0.png,cat", "1.png,dog"]
    table.write_text("\n".join(rows))
    assert screen("init", "a")[0] == 0
    rows += [f'2.png,"cat{FORGED}"', f"x{CLEAR}.png,dog"]
    table.write_text("\n".join(rows))
    for command in ("check", "run"):
        code, shown = screen(command, "federation.toml")
        assert code == 65
        assert_harmless(shown)
        assert r"\nsite 9 joined" in shown


@pytest.mark.parametrize("name", [FORGED, CLEAR, REVERSED, LATIN])
def test_an_error_is_one_line_whatever_it_names(name: str, screen: Screen) -> None:
    for words in (
        ["run", f"{name}.toml"],
        ["run", "demo", "--set", f"data.{name}=1"],
        ["--debug", "report", name],
        ["predict", name, name],
        ["check", name],
        [name],
    ):
        code, text = screen(*words)
        assert code in (64, 65, 74)
        assert_harmless(text)
        assert printable(name) in text or "Invalid JSON" in text


def test_a_run_whose_record_is_hostile_is_shown_harmless(screen: Screen) -> None:
    Path("run").mkdir()
    Path("run", "config.json").write_text(json.dumps({"data": {FORGED: CLEAR}}))
    for words in (["run", "--resume", "run"], ["diff", "run", "run"]):
        _, text = screen(*words)
        assert_harmless(text)


def test_no_module_prints_past_the_screen() -> None:
    package = Path(fedsemi.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        if path.name != "screen.py":
            assert " Console(" not in text and "(Console(" not in text, path


def test_a_command_to_type_is_one_word_for_a_shell_each() -> None:
    from fedsemi.text.printable import typed

    words = ["fedsemi", "it's $HOME", *NAMES, LATIN, "\\'\n", ""]
    bash = ["bash", "-c", f"printf '%s\\0' {typed(*words)}"]
    told = subprocess.run(bash, capture_output=True, check=True).stdout
    assert told.split(b"\0")[:-1] == [os.fsencode(word) for word in words]
    assert typed(*words).isprintable()
    assert typed("a", "b c") == shlex.join(["a", "b c"])
