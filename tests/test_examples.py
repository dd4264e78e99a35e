"""The examples run from an empty folder, in small, as they stand."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_example(name: str, folder: Path, *words: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *words]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_own_arrays_network_and_method_take_at_most_forty_lines() -> None:
    text = (EXAMPLES / "own_data.py").read_text("utf-8")
    assert len(text.splitlines()) <= 40


def test_an_own_method_takes_at_most_twenty_lines() -> None:
    tree = ast.parse((EXAMPLES / "own_method.py").read_text("utf-8"))
    (method,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    first = method.decorator_list[0].lineno
    assert method.end_lineno is not None
    assert method.end_lineno - first + 1 <= 20


def test_every_example_is_run_here() -> None:
    """Or, the script first_hour.sh, in test_first_hour.py."""
    here = Path(__file__).read_text("utf-8")
    for path in EXAMPLES.iterdir():
        assert path.is_dir() or path.name in here


@pytest.mark.slow
def test_own_arrays_are_trained_with_an_own_network_and_method(tmp_path: Path) -> None:
    shown = run_example("own_data.py", tmp_path, "2")
    assert "2 rounds of __main__:ByRoot; accuracy" in shown
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_the_quickstart_trains_and_reports(tmp_path: Path) -> None:
    shown = run_example("quickstart.py", tmp_path, "1")
    assert "359 images to test on; 10 classes" in shown
    assert (tmp_path / "report.html").is_file()


@pytest.mark.slow
def test_an_own_method_is_compared(tmp_path: Path) -> None:
    shown = run_example("own_method.py", tmp_path, "1")
    assert "__main__:ByPower power=0.0" in shown and "one seed" in shown


@pytest.mark.slow
def test_a_sweep_is_plotted(tmp_path: Path) -> None:
    run_example("sweep.py", tmp_path, "1")
    assert (tmp_path / "sweep.png").stat().st_size > 5_000


NOTEBOOKS = {
    "quickstart.ipynb": "accuracy",
    "from_folders_to_a_report.ipynb": "all sites: ",
}
"""With something that each must show."""


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat, nbclient = map(pytest.importorskip, ("nbformat", "nbclient"))
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    client = nbclient.NotebookClient(
        notebook, timeout=1000, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown = str([cell.get("outputs") for cell in notebook.cells])
    assert NOTEBOOKS[name] in shown and (tmp_path / "report.html").is_file()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_with_its_outputs_and_is_small(name: str) -> None:
    path = EXAMPLES / name
    cells = json.loads(path.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert NOTEBOOKS[name] in json.dumps(outputs, ensure_ascii=False)
    assert path.stat().st_size < 100_000
    assert not [o for o in outputs if o["output_type"] == "error"]


def test_the_notebook_on_folders_shows_two_figures() -> None:
    text = (EXAMPLES / "from_folders_to_a_report.ipynb").read_text("utf-8")
    assert text.count('"image/png"') == 2


def test_digits_become_folders_as_the_page_says(tmp_path: Path) -> None:
    run_example("digits_as_folders.py", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "hospital-a",
        "hospital-b",
        "new-pictures",
        "practice-c",
        "test-set",
    ]
    rows = (tmp_path / "hospital-b" / "labels.csv").read_text().splitlines()
    assert rows[0] == "file,label" and rows[1].startswith("scan-0200.png,")
    assert sum(not row.endswith(",") for row in rows[1:]) == 50
    assert len([*(tmp_path / "practice-c").glob("*.png")]) == 700
