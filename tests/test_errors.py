"""The tree of errors: what they say, how they travel, what they suggest."""

from __future__ import annotations

import errno
import pickle

import pytest

from fedsemi import errors
from fedsemi.errors import ClientFailed, DataError, lacks_memory, most_alike, nearest


def test_an_error_without_a_code_has_that_of_its_kind() -> None:
    assert str(DataError("no images")) == "FS3000 no images"
    assert str(DataError("no images", "FS3001")) == "FS3001 no images"


def test_the_tree_at_the_top_has_each_kind_with_its_exit_code() -> None:
    kinds = [errors.FedSemiError, *errors.FedSemiError.__subclasses__()]
    for kind in kinds:
        line = next(
            line
            for line in (errors.__doc__ or "").splitlines()
            if kind.__name__ in line.split()
        )
        assert str(kind.exit_code) in line.split()


def test_a_failure_of_a_client_survives_the_way_out_of_a_worker() -> None:
    failed = ClientFailed(client=7, round=12, reason="loss: not finite: nan")
    again = pickle.loads(pickle.dumps(failed))
    assert (again.client, again.round) == (7, 12)
    assert (
        str(again)
        == str(failed)
        == ("FS2301 client 7 failed in round 12: loss: not finite: nan")
    )


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("could not create a primitive"),
    ],
)
def test_a_lack_of_memory_is_known_by_any_of_its_faces(error: Exception) -> None:
    assert lacks_memory(error)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), ValueError("memory")])
def test_other_errors_are_not_taken_for_a_lack_of_memory(error: Exception) -> None:
    assert not lacks_memory(error)


def test_the_nearest_name_is_suggested_whatever_its_case() -> None:
    assert nearest("SEMIANAG", ["SemiAnAgg", "rscfed"]) == (
        " (did you mean 'SemiAnAgg'?)"
    )
    assert nearest("xyz", ["SemiAnAgg", "rscfed"]) == ""
    assert most_alike("rscfedd", ["RSCFed"], cutoff=0.95) is None
