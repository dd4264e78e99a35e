from __future__ import annotations

import pytest

pytest.importorskip("flwr")

from flwr.app import ArrayRecord

from fedsemi.engines.flower.loopback import LoopbackGrid
from fedsemi.engines.flower.simulate import dealt
from fedsemi.engines.flower.strategy import MethodStrategy
from fedsemi.errors import ProtocolError
from fedsemi.experiment import conduct
from fedsemi.weights import digest

from .conftest import tiny


@pytest.mark.parametrize(
    ("method", "flower_rounds"),
    # CBAFed asks for class counts first; Flower counts that phase as a round.
    [("semianagg", 2), ("cbafed", 3)],
)
def test_flowers_own_loop_gives_the_same_bits(method, flower_rounds):
    simulation = tiny(method)
    steps = list(conduct(simulation))
    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        begin = ArrayRecord(steps[0].weights)
        result = strategy.start(LoopbackGrid(app, 3), begin, flower_rounds)
    found = result.arrays.to_torch_state_dict()
    assert digest(found) == digest(steps[-1].weights)


def test_a_method_that_asks_a_client_twice_is_refused_with_a_remedy():
    simulation = tiny("rscfed")
    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        with pytest.raises(ProtocolError, match=r"FS2114 'rscfed' .*fedsemi server"):
            strategy.start(LoopbackGrid(app, 3), strategy.initial_arrays(), 1)
