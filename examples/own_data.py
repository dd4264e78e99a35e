"""Own arrays, own network, own method: trained and reported. `... 2` for two rounds."""

import sys

from sklearn.datasets import load_digits
from torch import nn

import fedsemi

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 30


def network(in_channels):
    """Make any torch module that turns images into features; a head is put to it."""
    first = nn.Conv2d(in_channels, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()
    second = nn.Conv2d(32, 64, 3, stride=2), nn.BatchNorm2d(64), nn.ReLU()
    return nn.Sequential(*first, *second, nn.Flatten())


class ByRoot(fedsemi.SemiAveraging):
    """Unlabeled sites count by the root of their number of pseudo-labels."""

    def contributions(self, updates):
        """Return the share of each update."""
        roots = [update.num_pseudo**0.5 for update in updates]
        return fedsemi.shares_by(roots, updates, self.labeled_share)


images, labels = load_digits().images / 16, load_digits().target  # N×8×8, 0 to 1
sites = fedsemi.sites_from_arrays(
    labeled=[(images[:200], labels[:200])],
    unlabeled=[images[200:700], images[700:1000], images[1000:1300]],
    test=(images[1300:], labels[1300:]),
    flip=False,
)
run = fedsemi.simulate(
    sites, model=network, stages=[("supervised", ROUNDS), (ByRoot, ROUNDS)]
)
print(run, run.contributions[-4:], run.report("report.html"), sep="\n")
