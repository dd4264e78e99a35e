"""A method in twenty lines, compared with two others over seeds.

Run it with `python examples/own_method.py`; it takes some minutes on two cores. With a
number, `python examples/own_method.py 1`, there are so many seeds and rounds.
"""

import sys
from dataclasses import dataclass

import fedsemi

SMALL = int(sys.argv[1]) if sys.argv[1:] else None


@dataclass(frozen=True)
class ByPower(fedsemi.SemiAveraging):
    """Unlabeled sites count by a power of their number of confident pseudo-labels.

    One is FedAvg-Semi, zero counts all of them alike.
    """

    power: float = 0.5
    """A setting: it may be given in a stage, and is checked."""

    def contributions(self, updates):
        """Return the share of each update: all that a server step of shares needs."""
        scores = [float(update.num_pseudo) ** self.power for update in updates]
        return fedsemi.shares_by(scores, updates, self.labeled_share_in(updates))


sites = fedsemi.sites_from("digits", num_clients=10, image_size=16, flip=False)
found = fedsemi.compare(
    ["fedavg-semi", ByPower, (ByPower, {"power": 0.0}), "semianagg"],
    sites,
    seeds=SMALL or 3,
    stages=[("supervised", SMALL or 40), (ByPower, SMALL or 20)],
    local={"batch_size": 32, "loss": "balanced-softmax"},
)
print(found)
