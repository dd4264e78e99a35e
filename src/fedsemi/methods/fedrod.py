"""FedRoD with FedAvg-Semi, after the appendix of SemiAnAgg (TMLR 2024).

Chen, Chao: On Bridging Generic and Personalized Federated Learning for Image
Classification, ICLR 2022. Neither its code nor that of the appendix is public: this is
our reading. The global head learns labels with balanced softmax; a personal head stays
in the client's memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fedsemi.client.local import answer
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.fedavg import FedAvgSemi
from fedsemi.objectives.personal_head import PersonalHead
from fedsemi.objectives.workbench import Workbench


@dataclass(frozen=True)
class FedRoD(FedAvgSemi):
    """Balanced softmax for the global head; a personal head learns the labels."""

    name = "fedrod"
    cards = ("LC",)
    provenance = Provenance(
        "FedRoD in SemiAnAgg",
        2024,
        "balanced softmax, personal head",
        "FedAvg-Semi",
        "our reading; its global model is that of fedavg-semi",
    )
    own_metrics = frozenset({"personal_loss"})
    dual: ClassVar[bool] = False

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn as FedAvg-Semi does, with a personal head on the side."""
        local = replace(self.setup.local, loss="balanced-softmax")
        setup = replace(self.setup, local=local)
        parts = self.learner.parts
        return answer(task, client, memory, setup, self._objective, parts)

    def _objective(self, bench: Workbench) -> PersonalHead:
        return PersonalHead(bench, self.learner.objective(bench), self.dual)


@dataclass(frozen=True)
class FedRoDDual(FedRoD):
    """FedRoD whose personal heads learn pseudo-labels and help to make them."""

    name = "fedrod-dual"
    cards = ("LC",)
    provenance = Provenance(
        "FedRoD in SemiAnAgg",
        2024,
        "balanced softmax, personal head labels too",
        "FedAvg-Semi",
        "our reading, 'Dual' is not defined in the paper",
    )
    dual: ClassVar[bool] = True
