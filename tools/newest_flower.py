"""Try the newest release of Flower, in an environment of its own.

python tools/newest_flower.py [--whole]

The environment sees the packages of the one that runs this, and has the newest Flower
before them. The contract of names is tested, in half a minute; with --whole the tests
of a deployment as well. The same release is not tried twice in a day.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".venv-newest-flower"
_STAMP = PLACE / "tried"
_DAY = 24 * 3600
_CONTRACT = (
    "tests/deployment/test_flower_internals.py",
    "tests/deployment/coordinator/test_inbox.py",
    "tests/deployment/site/test_connection.py",
)
_ALL = ("-m", "slow or not slow", "tests/deployment")


def main(arguments: list[str]) -> int:
    """Install the newest Flower and run tests with it; return their exit code."""
    tried = _STAMP.exists() and time.time() - _STAMP.stat().st_mtime < _DAY
    if tried and not arguments:
        print(_STAMP.read_text("utf-8").strip())
        return 0
    python = _environment()
    # Alone, since our own pin beside it would keep the newest out.
    install = [python, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"]
    if subprocess.run([*install, "flwr"], check=False).returncode:
        print("the newest Flower could not be installed, so it was not tried")
        return 1
    tests = _ALL if "--whole" in arguments else _CONTRACT
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    code = subprocess.run(command, cwd=ROOT, check=False, env=_variables()).returncode
    verdict = "passes" if code == 0 else "fails"
    what = "all tests of a deployment" if tests is _ALL else "the contract of names"
    line = f"Flower {_version(python)} {verdict} {what}"
    print(line)
    if code == 0:
        _STAMP.write_text(f"{line} ({time.strftime('%Y-%m-%d')})\n", "utf-8")
    return code


def _environment() -> str:
    """Make the environment, if there is none; return its Python."""
    if not PLACE.exists():
        venv.create(PLACE, with_pip=True)
        (found,) = PLACE.glob("lib/python*/site-packages")
        # Its own packages come first; all others are those of whoever runs this.
        beside = sysconfig.get_path("purelib")
        (found / "beside.pth").write_text(f"{beside}\n", "utf-8")
    return str(PLACE / "bin" / "python")


def _variables() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}


def _version(python: str) -> str:
    ask = "from importlib.metadata import version; print(version('flwr'))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
