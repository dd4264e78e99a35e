"""Local learners by their names in a config; any of them goes with any averaging."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Tag, with_config
from torch import Tensor

from fedsemi.errors import ConfigError
from fedsemi.objectives.acr import TwoHeadPseudoLabel
from fedsemi.objectives.base import Objective, SemiSupervised, View
from fedsemi.objectives.labeler import Labeler, Probe
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.pseudo_label import PseudoLabel, Teacher
from fedsemi.objectives.selection import Fixed, Flexible, Free, Selection, Soft
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.two_heads import TwoHeadSupervised, standard_head
from fedsemi.objectives.workbench import Loss, Parts, Workbench
from fedsemi.plugins.registry import Registry
from fedsemi.settings import STRICT, NotNegative, Share, Whole

ProbeMaker = Callable[[Workbench], Probe]


@with_config(STRICT)
@dataclass(frozen=True)
class LocalLearner(ABC):
    """How a client learns from both parts of its data; goes with any averaging.

    Its settings are the fields of its dataclass. One from outside has `module:Class`
    for its name.
    """

    name: str
    """Which learner this is."""

    own_metrics: ClassVar[frozenset[str]] = frozenset()
    """Names of the numbers that it sends for the log beside the usual ones."""

    @property
    def parts(self) -> Parts | None:
        """What makes the parts that the learner puts beside the classifier, if any."""
        return None

    @abstractmethod
    def objective(self, bench: Workbench, probe: ProbeMaker | None = None) -> Objective:
        """Build the client's objective, with something to measure on the way."""


@with_config(STRICT)
@dataclass(frozen=True)
class PseudoLabeling(LocalLearner):
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
    fairness: NotNegative = 0.001
    """Weight of FreeMatch's term for even classes."""
    free_cap: Share = 1.0
    """Largest overall threshold of FreeMatch; USB has 0.95 for SVHN."""
    loss: Loss = "cross-entropy"
    """Of pseudo-labels; with balanced softmax rare pseudo-classes count as much."""

    def objective(self, bench: Workbench, probe: ProbeMaker | None = None) -> Objective:
        """Build the client's objective, with something to measure on the way."""
        selection = self._selection(bench)
        labeler = _labeler(bench, self.cutoff, probe)
        unsupervised = PseudoLabel(bench, selection, labeler, self.teacher, self.loss)
        return SemiSupervised(Supervised(bench), unsupervised)

    def _selection(self, bench: Workbench) -> Selection:
        num_unlabeled, num_classes = bench.client.num_unlabeled, bench.num_classes
        if self.selection == "fixmatch":
            return Fixed(self.cutoff)
        if self.selection == "flexmatch":
            persistent = self.flex_state == "persistent"
            return Flexible(num_unlabeled, num_classes, self.cutoff, persistent)
        if self.selection == "softmatch":
            return Soft(num_classes)
        return Free(num_classes, fairness=self.fairness, cap=self.free_cap)


@with_config(STRICT)
@dataclass(frozen=True)
class MeanTeaching(LocalLearner):
    """Agreement with a running mean of the client's own past models.

    Tarvainen and Valpola, Mean teachers are better role models, NeurIPS 2017.
    """

    name: Literal["mean-teacher"]
    """Which learner this is."""
    weight: NotNegative = 50.0
    """Of the squared error between teacher and student, averaged over classes."""
    ramp_steps: Whole = 0
    """Steps of a client over which the weight grows from zero; 0 for no ramp."""
    teacher_keep: Share = 0.999
    """What the teacher keeps of itself in a step, once it is old enough."""
    cutoff: Share = 0.9
    """Confidence of the teacher from which a sample is counted and compared."""
    views: View = "weak"
    """The student's view; the teacher's is weak."""

    def objective(self, bench: Workbench, probe: ProbeMaker | None = None) -> Objective:
        """Build the client's objective, with something to measure on the way."""
        if not bench.client.num_unlabeled:
            return Supervised(bench)
        unsupervised = MeanTeacher(
            bench,
            _labeler(bench, self.cutoff, probe),
            weight=self.weight / bench.num_classes,
            ramp_steps=self.ramp_steps,
            keep=self.teacher_keep,
            view=self.views,
        )
        return SemiSupervised(Supervised(bench), unsupervised)


@with_config(STRICT)
@dataclass(frozen=True)
class AdaptiveAdjustment(LocalLearner):
    """ACR: two heads, and logits adjusted by an estimate of the class prior."""

    own_metrics = frozenset({"tau"})

    name: Literal["acr"] = "acr"
    """Which learner this is."""
    cutoff: Share = 0.95
    """Confidence from which a pseudo-label is learned and counted."""
    ema: Share = 0.9
    """What the running class shares keep of themselves in a step."""
    adapt_after: Whole = 5
    """Epoch of a client, from zero, after which it watches its classes and adapts."""

    @property
    def parts(self) -> Parts:
        """Make a second head."""
        return standard_head

    def objective(
        self,
        bench: Workbench,
        probe: ProbeMaker | None = None,
        prior: Tensor | None = None,
    ) -> Objective:
        """Build the objective; without a prior each client estimates its own."""
        unsupervised = TwoHeadPseudoLabel(
            bench,
            cutoff=self.cutoff,
            ema=self.ema,
            adapt_after=self.adapt_after,
            prior=prior,
            probe=None if probe is None else probe(bench),
        )
        supervised = TwoHeadSupervised(bench, send_counts=prior is not None)
        return SemiSupervised(supervised, unsupervised)


def _labeler(bench: Workbench, cutoff: float, probe: ProbeMaker | None) -> Labeler:
    return Labeler(bench, cutoff, None if probe is None else probe(bench))


def _name(learner: Any) -> str:
    """Tell which learner is meant; a table without a name means pseudo-labels."""
    if isinstance(learner, dict):
        return str(learner.get("name", "pseudo-label"))
    if not isinstance(getattr(learner, "name", None), str):
        raise ConfigError(
            f"learner is {learner!r}, and must be a table: "
            '{ name = "mean-teacher" }, or { selection = "flexmatch" } for another '
            "choice of pseudo-labels; `fedsemi settings learner` has all",
            code="FS4102",
        )
    return str(learner.name)


def _problem(thing: Any) -> str | None:
    """Say why something from outside is no learner; None if it is one."""
    if not (inspect.isclass(thing) and issubclass(thing, LocalLearner)):
        return "is no subclass of fedsemi.client.learners.LocalLearner"
    if inspect.isabstract(thing):
        return f"lacks {', '.join(sorted(thing.__abstractmethods__))}"
    return None


LEARNERS: Registry[type[LocalLearner]] = Registry(
    "learner",
    {
        "pseudo-label": PseudoLabeling,
        "mean-teacher": MeanTeaching,
        "acr": AdaptiveAdjustment,
    },
    _problem,
)
"""The learners that come with fedsemi; others enter as plug-ins."""

Learner = Annotated[
    Annotated[PseudoLabeling, Tag("pseudo-label")]
    | Annotated[MeanTeaching, Tag("mean-teacher")]
    | Annotated[AdaptiveAdjustment, Tag("acr")],
    Discriminator(_name),
]
"""A setting that names a learner of ours; `config` puts one from outside in place."""
