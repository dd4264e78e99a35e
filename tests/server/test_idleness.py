"""Who answers without learning."""

import pytest
import torch

from fedsemi.messages import ClientInfo, Task, Update
from fedsemi.server.idleness import _cosines_to_others, idle_clients
from fedsemi.server.replies import checked


def reply(id, steps, old, labeled=0):
    """Answer with the weights that lie `steps` away from the old ones."""
    new = {
        key: value + steps[key] if key in steps else value + 1
        for key, value in old.items()
    }
    info = ClientInfo(id, labeled, 10)
    update = Update(id, 0, new, labeled, 10)
    return checked(update, Task(id, 0, old), info, {})


def replies_of(*steps, labeled=()):
    old = {"a": torch.zeros(2, 1), "n": torch.tensor(3), "b": torch.zeros(1)}
    rows = [
        {"a": torch.tensor([[x], [y]]), "b": torch.tensor([z])} for x, y, z in steps
    ]
    return [reply(id, row, old, int(id in labeled)) for id, row in enumerate(rows)]


def test_a_cosine_compares_a_step_with_the_directions_of_the_others():
    # Directions e1, e2 and e1 whatever their lengths: e1 against e2 + e1 is 1 / sqrt 2.
    replies = replies_of((1.0, 0.0, 0.0), (0.0, 0.0, 5.0), (0.5, 0.0, 0.0))
    expected = [0.5**0.5, 0.0, 0.5**0.5]
    assert _cosines_to_others(replies).tolist() == pytest.approx(expected, abs=1e-6)


def test_a_step_unrelated_to_all_others_is_idle():
    replies = replies_of((1.0, 0.0, 0.0), (0.0, 0.0, 5.0), (0.5, 0.0, 0.0))
    assert idle_clients(replies) == {1}


def test_no_step_is_idle():
    replies = replies_of((1.0, 0.1, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.1))
    assert idle_clients(replies) == {1}


def test_a_labeled_client_is_never_called_idle():
    steps = (1.0, 0.0, 0.0), (0.0, 0.0, 5.0), (0.5, 0.0, 0.0)
    assert idle_clients(replies_of(*steps, labeled=[1])) == set()


def test_two_clients_are_too_few_to_compare():
    assert idle_clients(replies_of((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))) == set()
