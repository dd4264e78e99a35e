"""Write the requirements of a deployment and of a release, with hashes, from the pins.

`make lock` runs this. uv, which comes with Flower, resolves for all platforms at once
and takes the hash of every file that pip may pick from the registry.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "requirements"
PYTHON = "3.11"
"""The oldest one that is supported."""
CPU_BUILDS = [
    (python, f"manylinux_2_28_{machine}")
    for python in ("3.11", "3.12", "3.13")
    for machine in ("x86_64", "aarch64")
]

_FOR_TORCH = re.compile(r"(torch|triton)==|(nvidia|cuda)-")
_DEPLOY = """\
# What a coordinator or a site needs beside torch, with the hashes of all files that pip
# may pick. Made by `make lock` from pyproject.toml and constraints.txt; do not edit.
# Install with: pip install --no-deps --require-hashes -r requirements/deploy.txt
"""
_TORCH = """\
# torch as the package registry has it; on Linux it brings gigabytes of libraries for
# GPUs, listed here. Made by `make lock`; do not edit. Without a GPU take torch-cpu.txt.
# Install with: pip install --no-deps --require-hashes -r requirements/torch.txt
"""
_CPU = """\
# torch for machines without a GPU. It comes from the index of the PyTorch project, not
# from the package registry: give pip that index or a folder that holds the file. Made
# by `make lock`; do not edit. The builds that could be had when this file was made are:
# {builds}
# For others, take torch.txt or add a hash that you trust.
# Install with: pip install --no-deps --require-hashes -r requirements/torch-cpu.txt
"""
_RELEASE = """\
# What makes and looks over a release, with hashes; `make release` and `make audit` use
# it. Made by `make lock` from release.in; do not edit.
"""


def main() -> None:
    """Write all files anew."""
    pins = compiled("pyproject.toml", "--extra=flower", "--constraint=constraints.txt")
    torch = [pin for pin in pins if _FOR_TORCH.match(pin)]
    rest = [pin for pin in pins if pin not in torch]
    write("deploy.txt", _DEPLOY, rest)
    write("torch.txt", _TORCH, torch)
    write("release.txt", _RELEASE, compiled("requirements/release.in"))
    version = re.match(r"torch==(\S+)", next(p for p in torch if p[:5] == "torch"))
    assert version is not None
    name = f"torch=={version[1]}+cpu"
    if hashes := cpu_hashes(name):
        builds = ", ".join(hashes)
        line = " \\\n".join(
            [name, *(f"    --hash=sha256:{h}" for h in hashes.values())]
        )
        write("torch-cpu.txt", _CPU.format(builds=builds), [line + "\n"])


def compiled(*arguments: str) -> list[str]:
    """Return each pinned package with its hashes, as uv writes them."""
    options = ["--universal", "--generate-hashes", "--no-annotate", "--no-header"]
    python = f"--python-version={PYTHON}"
    command = [sys.executable, "-m", "uv", "pip", "compile", python, *options]
    done = subprocess.run(
        [*command, "--quiet", *arguments],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return re.findall(r"^[^\s#].*\n(?:[ \t].*\n)*", done.stdout, re.MULTILINE)


def cpu_hashes(name: str) -> dict[str, str]:
    """Ask pip, wherever it looks, for the builds without GPU libraries."""
    found = {}
    for python, platform in CPU_BUILDS:
        with tempfile.TemporaryDirectory() as folder:
            where = [f"--python-version={python}", f"--platform={platform}"]
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            done = subprocess.run(
                [*pip, "--only-binary=:all:", *where, f"--dest={folder}", name],
                check=False,
                capture_output=True,
            )
            for file in Path(folder).glob("*.whl") if not done.returncode else ():
                with file.open("rb") as content:
                    digest = hashlib.file_digest(content, "sha256").hexdigest()
                found[f"Python {python} on {platform}"] = digest
    return found


def write(name: str, header: str, pins: list[str]) -> None:
    """Write one file of requirements."""
    (OUT / name).write_text(header + "".join(pins), "utf-8")


if __name__ == "__main__":
    main()
