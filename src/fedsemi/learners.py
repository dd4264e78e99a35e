"""Local learners by their names in a config; any of them goes with any averaging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import with_config

from fedsemi.local import Workbench
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.pseudo_label import Probe, PseudoLabel, Teacher
from fedsemi.objectives.selection import make_selection
from fedsemi.objectives.supervised import Supervised
from fedsemi.settings import STRICT, Share

ProbeMaker = Callable[[Workbench], Probe]


@with_config(STRICT)
@dataclass(frozen=True)
class PseudoLabeling:
    """Labels where there are any, confident pseudo-labels of a teacher elsewhere."""

    name: Literal["pseudo-label"] = "pseudo-label"
    """Which learner this is."""
    selection: Literal["fixmatch", "flexmatch", "softmatch", "freematch"] = "flexmatch"
    """How much each pseudo-label counts."""
    cutoff: Share = 0.9
    """Confidence from which a pseudo-label is counted, remembered and compared."""
    teacher: Teacher = "global"
    """The frozen global model of the round, or the local model as it learns."""
    flex_state: Literal["persistent", "per_round"] = "persistent"
    """Whether FlexMatch remembers its learned labels from round to round."""

    def objective(self, bench: Workbench, probe: ProbeMaker | None = None) -> Objective:
        """Build the client's objective, with something to measure on the way."""
        selection = make_selection(
            self.selection,
            bench.client.num_unlabeled,
            bench.num_classes,
            self.cutoff,
            self.flex_state == "persistent",
        )
        unsupervised = PseudoLabel(
            bench,
            selection,
            cutoff=self.cutoff,
            teacher=self.teacher,
            probe=None if probe is None else probe(bench),
        )
        return SemiSupervised(Supervised(bench), unsupervised)


Learner = PseudoLabeling
