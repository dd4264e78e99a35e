import random
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import load_config
from fedsemi.config.files import CONFIGS, find_config, read_config_file
from fedsemi.errors import ConfigError


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"lr = 1\nlr = 2\n", "line 2"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"a = " + b"[" * 30 + b"]" * 30, "nested over 20 deep"),
        (b".".join([b"a"] * 1000) + b" = 1", "nested over 20 deep"),
        (b"a = [" + b"1," * 20_000 + b"]", "over 10000 values"),
        (b"#" * 300_000, "larger than 256 kB"),
        (b"a = \xff", "cannot read"),
        (b"a = NO", "is not TOML"),
    ],
)
def test_hostile_configs_are_refused_in_one_line(
    tmp_path: Path, content: bytes, part: str
) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="FS4") as error:
        read_config_file(path)
    assert part in str(error.value) and "\n" not in str(error.value)


def test_missing_config_names_the_one_beside_it_and_the_shipped_one(
    tmp_path: Path,
) -> None:
    for name in ("federation.toml", "other.toml"):
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match="FS4001") as error:
        load_config(tmp_path / "federaton.toml")
    hint = f"(did you mean '{tmp_path / 'federation.toml'}'?)"
    assert str(error.value).endswith(hint)
    with pytest.raises(ConfigError, match="the shipped 'svhn/semianagg'"):
        load_config(Path("svhn/semiangg"))
    with pytest.raises(ConfigError, match=r"there is no config 'xyz\.toml'$"):
        load_config(Path("xyz.toml"))


def test_the_place_of_a_config_in_a_checkout_leads_to_the_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="the shipped 'cpu/svhn'"):
        load_config(Path("configs/cpu/svhn.toml"))


def test_a_folder_of_the_same_name_hides_no_shipped_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()
    assert find_config(Path("digits")) == CONFIGS / "digits.toml"
    (tmp_path / "demo").write_text("seed = 2")
    assert find_config(Path("demo")) == Path("demo")


def test_windows_lines_and_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    assert read_config_file(path) == {"a": 1, "b": 2}


def test_missing_config_and_folder_are_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path, Path(".")):
        with pytest.raises(ConfigError, match="FS4001"):
            read_config_file(path)


PIECES = [
    b"a = 1",
    b"a = 2",
    b"lr = 1e-3",
    b"lr = NO",
    b"x = 010",
    b"y = " + b"9" * 9000,
    b"d = 9999-99-99",
    b"t = 25:61:61",
    b"[a]",
    b"[[a]]",
    b"[a.b.c]",
    b"a.b = 1",
    b's = "' + b"x" * 50_000,
    b"s = '''" + b"y" * 50_000 + b"'''",
    b'u = "\\ud800"',
    b'"" = 1',
    b"\x00",
    b"\xff\xfe",
    b"b = " + b"[" * 400 + b"]" * 400,
    b"i = " + b"{a=" * 60 + b"1" + b"}" * 60,
    b"n = [" + b"[]," * 9000 + b"]",
    b"k" * 60_000 + b" = 1",
    b".".join([b"z"] * 300) + b" = 2",
    b"f = nan\ng = -inf",
    "name = 'ä😀'".encode(),
]


def seconds_to_refuse(path: Path) -> float:
    started = time.process_time()
    with pytest.raises(ConfigError):
        load_config(path)
    return time.process_time() - started


def test_two_hundred_hostile_configs_are_quick_and_one_line(
    tmp_path: Path, promise: Any
) -> None:
    rng, failed = random.Random(14), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = tmp_path / "x.toml"
    for _ in range(200):
        path.write_bytes(b"\n".join(rng.choices(PIECES, k=rng.randrange(1, 6))))
        with pytest.raises(ConfigError) as error:  # none of these is an experiment
            load_config(path)
        failed += "\n" in str(error.value) or len(str(error.value)) > 1000
        # The better of two: a collection of garbage may fall into one.
        failed += min(seconds_to_refuse(path) for _ in range(2)) > 0.2
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failed += after - before > 50 * 1024
    promise("IN-14 hostile configs: one line, 0.2 s, 50 MB", 200, failed)
    assert failed == 0
