"""What a deployment installs is what was tested, and each file of it has a hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKED = ("deploy.txt", "torch.txt", "torch-cpu.txt", "release.txt")
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)((?:.*\\\n)(?:    --hash=.*\n)*)", re.M)


def pins(path: Path) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text("utf-8"), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


@pytest.mark.parametrize("name", LOCKED)
def test_every_line_is_a_pin_with_a_sha256(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text("utf-8")
    rest = PIN.sub("", text)
    assert [line for line in rest.splitlines() if not line.startswith("#")] == []
    for _, _, hashes in PIN.findall(text):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", hashes)
        assert "--hash=" not in re.sub(r"--hash=sha256:[0-9a-f]{64}\b", "", hashes)


def test_a_deployment_gets_the_versions_that_are_tested() -> None:
    tested = pins(ROOT / "constraints.txt")
    locked = pins(ROOT / "requirements/deploy.txt")
    both = {name: version for name, version in locked.items() if name in tested}
    assert both == {name: tested[name] for name in both}
    # The rest comes with other systems or Pythons than that of the tests.
    assert len(both) >= len(locked) - 5
    torch = pins(ROOT / "requirements/torch.txt")["torch"]
    assert torch == tested["torch"]
    cpu = pins(ROOT / "requirements/torch-cpu.txt")["torch"]
    assert cpu == f"{torch}+cpu"


def test_all_that_the_package_needs_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["flower"]]
    names = {re.split(r"[\[<>=~]", line)[0].lower() for line in needed}
    assert names <= {*pins(ROOT / "requirements/deploy.txt"), "torch"}


def test_one_build_back_end_is_pinned_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (pin,) = project["build-system"]["requires"]
    version = pin.removeprefix("setuptools==")
    for name in ("constraints.txt", "requirements/release.txt"):
        assert pins(ROOT / name)["setuptools"] == version
