from pathlib import Path

import pytest

from fedsemi.config_file import read_config_file
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


def test_windows_lines_and_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    assert read_config_file(path) == {"a": 1, "b": 2}


def test_missing_config_and_folder_are_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigError, match="FS4001"):
            read_config_file(path)
