"""What `import fedsemi` offers: exactly these names, and nothing is loaded by it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import fedsemi

SURFACE = {
    # sites
    "Sites",
    "sites_from",
    "sites_from_arrays",
    "sites_from_dataset",
    "sites_from_folders",
    # runs
    "Run",
    "simulate",
    "run",
    "resume",
    "load",
    "compare",
    "list_datasets",
    "list_methods",
    "list_models",
    # for methods and data sets of one's own
    "Averaging",
    "Client",
    "ClientInfo",
    "LocalLearner",
    "Method",
    "Objective",
    "Provenance",
    "SemiAveraging",
    "ServerState",
    "Statistic",
    "Task",
    "Update",
    "Workbench",
    "dataset_of",
    "by_data_size",
    "by_diversity",
    "by_supervision",
    "shares_by",
    # errors and the version
    "FedSemiError",
    "Interrupted",
    "__version__",
}


def test_the_public_names_are_exactly_these() -> None:
    assert set(fedsemi.__all__) == SURFACE
    assert set(dir(fedsemi)) == SURFACE
    assert list(fedsemi.__all__) == sorted(fedsemi.__all__)


@pytest.mark.parametrize("name", sorted(SURFACE - {"__version__"}))
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert inspect.getdoc(getattr(fedsemi, name))


@pytest.mark.parametrize("name", sorted(SURFACE - {"__version__"}))
def test_every_public_function_says_its_types(name: str) -> None:
    found = getattr(fedsemi, name)
    if inspect.isfunction(found):
        signature = inspect.signature(found)
        assert signature.return_annotation is not signature.empty
        every = signature.parameters.values()
        assert all(each.annotation is not each.empty for each in every)


def test_a_name_that_is_not_there_is_missing_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = fedsemi.simulat


def test_no_public_name_is_that_of_a_module_which_would_hide_it() -> None:
    for name in SURFACE - {"__version__"}:
        assert not inspect.ismodule(getattr(fedsemi, name)), name


def test_to_import_fedsemi_loads_neither_torch_nor_pydantic() -> None:
    code = (
        "import sys, fedsemi\n"
        "heavy = {'torch', 'numpy', 'pydantic', 'rich', 'fedsemi.api'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
