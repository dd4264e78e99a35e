"""What a method needs of a federation is said before the first round."""

from __future__ import annotations

import pytest

from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.methods.needs import need_labels, need_unlabeled

LABELED, UNLABELED, EMPTY = (
    ClientInfo(i, *n) for i, n in enumerate([(5, 0), (0, 5), (0, 0)])
)


def test_one_client_with_what_is_needed_is_enough() -> None:
    need_labels("x", [UNLABELED, LABELED, EMPTY])
    need_unlabeled("x", [LABELED, UNLABELED, EMPTY])


def test_a_federation_without_labels_is_told_which_setting_gives_some() -> None:
    with pytest.raises(ProtocolError, match=r"FS2121 semianagg needs .* 2 clients"):
        need_labels("semianagg", [UNLABELED, EMPTY])


def test_a_federation_in_which_all_is_labeled_is_told_what_to_use_instead() -> None:
    with pytest.raises(ProtocolError, match=r"FS2122 semianagg needs .*use supervised"):
        need_unlabeled("semianagg", [LABELED, EMPTY])


def test_nobody_at_all_is_not_enough() -> None:
    with pytest.raises(ProtocolError):
        need_labels("x", [])
