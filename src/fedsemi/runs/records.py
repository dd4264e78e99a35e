"""What is recorded of a round, and what a caller sees after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedsemi.client.evaluate import Metrics
from fedsemi.client.findings import Validation
from fedsemi.messages import Memory, Weights
from fedsemi.objectives.calibration import Estimate
from fedsemi.state import ServerState


@dataclass(frozen=True)
class Notice:
    """Something that was seen or done; `client` is None if it concerns the round."""

    client: int | None
    round: int
    code: str
    reason: str

    def __str__(self) -> str:
        who = "" if self.client is None else f"client {self.client} "
        return f"{self.code} round {self.round + 1}: {who}{self.reason}"


@dataclass(frozen=True)
class Rejection(Notice):
    """A notice whose reply was dropped."""


@dataclass(frozen=True)
class Cut(Notice):
    """A notice of the guard, which changed what an honest-looking reply brings."""

    part: float | None
    """What was left of a step, a share, claims or a round, from 0 to 1.

    None in records of older versions, which say it in words only."""


GROUP_CUT = "FS2143"
CUTS = frozenset({"FS2107", "FS2109", "FS2140", "FS2141", "FS2142", GROUP_CUT})
"""What the guard's notices are numbered, see `fedsemi.server.guard`."""


@dataclass(frozen=True)
class ClientRecord:
    """What one client did in one round."""

    num_labeled: int
    num_unlabeled: int
    num_pseudo: int
    contribution: float
    diversity: list[float] | None = None
    pseudo_label_accuracy: float | None = None
    """By the oracle of a simulation."""
    pseudo_label_estimate: Estimate | None = None
    """Without ground truth, from what labeled clients held out."""
    bytes_sent: int = 0
    """Size of the tensors in the client's answers."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What the client sent for the log, its findings on held-out images included."""


@dataclass(frozen=True)
class GroupRecord:
    """What a group of clients did in a round under masks, see `privacy.groups`."""

    clients: tuple[int, ...]
    """Who was dealt into it."""
    summed: tuple[int, ...]
    """Whose sum was opened; nobody's if too few of them were left."""
    share: float
    """Of the mean, as its clients say."""
    step: float | None
    """Length of its mean step; None without a share, or with one that cannot be."""
    part: float
    """What of its sum the model was moved by."""

    def named(self, number: int) -> str:
        """Name the group and who is in it.

        >>> GroupRecord((0, 4, 7), (0, 4, 7), 0.5, 1.0, 1.0).named(2)
        'group 2 (clients 0, 4, 7)'
        """
        return f"group {number} (clients {', '.join(map(str, self.clients))})"


@dataclass(frozen=True)
class Spent:
    """What a run has given away of any one site so far, see `fedsemi.accounting`."""

    epsilon: float
    delta: float
    cost: float
    """What adds up from round to round."""
    covers: str
    """Of what this is told: the model, or the statistics alone."""
    stops: str | None = None
    """Why this is the last round, if it is not the plan's."""


@dataclass(frozen=True)
class RoundRecord:
    """One line of metrics.jsonl, see `reading.read_records`; rounds count from one.

    A field that is added gets a default: it is what records of older versions have.
    """

    stage: int
    method: str
    round: int
    rounds: int
    seconds: float
    test: Metrics | None = None
    """Its confusion is not written down."""
    validation: Validation | None = None
    clients: Mapping[int, ClientRecord] = field(default_factory=dict)
    asked: int = 0
    """Replies that the method planned for."""
    used: int = 0
    """Replies that passed the gate."""
    dropped: tuple[Rejection, ...] = ()
    """Replies that the gate refused."""
    notices: tuple[Cut | Notice, ...] = ()
    """What else the gate saw, and what the guard cut."""
    skipped: bool = False
    """Whether too few replies were left and the model stayed as it was."""
    intervention: str | None = None
    """What was done because the mean would have hurt, see [alarms]."""
    running_mean: Metrics | None = None
    """The test of a running mean of the global model, if one is kept and is not what
    the run delivers: then `test` is of it."""
    also_tested: Mapping[str, float] = field(default_factory=dict)
    """Accuracy of further models of the round, such as IsoFed's labeled mean."""
    guard: bool | None = None
    """Whether the guard was on; older records leave it to the config beside them."""
    privacy: Spent | None = None
    """What was given away so far, where there is noise."""
    hidden: bool = False
    """Whether masks hide what single clients did: their zeros say nothing then."""
    groups: tuple[GroupRecord, ...] = ()
    """Who was summed with whom, where masks hide single clients but not groups."""
    measured_bytes: int = 0
    """Sent by clients that learned nothing in this round and only measured."""

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """What the guard cut, of whom and how far."""
        return tuple(each for each in self.notices if isinstance(each, Cut))

    def as_json(self) -> dict[str, Any]:
        """Lay the record out flat, with the clients by id."""
        content = asdict(self)
        if self.privacy is None:
            del content["privacy"]
        for name in ("hidden", "groups", "measured_bytes"):
            if not content[name]:
                del content[name]
        test = content.pop("test") or {}
        clients = {str(id): record for id, record in content.pop("clients").items()}
        for scores in (test, content["running_mean"] or {}):
            scores.pop("confusion", None)
        return content | test | {"clients": clients}


@dataclass(frozen=True)
class Step:
    """What a caller sees after each round; `memory` answers until the next one."""

    record: RoundRecord
    state: ServerState
    memory: Callable[[int], Memory]

    @property
    def weights(self) -> Weights:
        """The global model."""
        return self.state.weights

    @property
    def running_mean(self) -> Weights:
        """A running mean of the global model; empty if none is kept."""
        return self.state.running_mean
