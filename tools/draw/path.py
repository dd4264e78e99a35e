"""The path of a round: the functions that it goes through, as the code calls them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.draw.code import Found, find


@dataclass(frozen=True)
class Step:
    """A function of the path, and the one that calls it."""

    place: str
    by: str = ""
    called: str = ""
    """How the caller names it, if by another name than its own."""


_STAGE = "server/stages.py:_run_stage"
_LOOP, _ROUND = "server/rounds.py:run", "server/rounds.py:one_round"
_MEAN = "methods/averaging.py:Averaging"
_SEMIANAGG = "methods/semianagg.py:SemiAnAgg.contributions"
ASKING = (
    Step(_LOOP, by=_STAGE),
    Step("server/members.py:with_members", by=_LOOP),
    Step(_ROUND, by=_LOOP),
    Step(f"{_MEAN}.plan", by=_ROUND),
    Step("server/gate.py:Gate.admitted", by=_ROUND),
    Step("engine.py:Engine.arriving", by=_LOOP),
)
LEARNING = (
    Step(
        "engines/in_process.py:train_client", "deployment/site/desk.py:Desk.carry_out"
    ),
    Step(f"{_MEAN}.train", by="engines/in_process.py:train_client"),
    Step("client/local.py:answer", by=f"{_MEAN}.train"),
    Step("client/local.py:learn", by="client/local.py:answer"),
    Step(
        "objectives/diversity.py:AnchorDiversity.forward",
        by="objectives/labeler.py:Labeler.forward",
        called="probe",
    ),
    Step("client/wire.py:check_declared", "deployment/site/desk.py:Desk.carry_out"),
)
COMBINING = (
    Step("server/gate.py:Gate.check", by=_ROUND),
    Step("server/guard.py:Guard.rule", by="server/gate.py:Gate.check"),
    Step(f"{_MEAN}.aggregate", by="server/rounds.py:_closed"),
    Step("contributions.py:by_diversity", by=_SEMIANAGG),
    Step("weights.py:weighted_mean", by="state.py:ServerState.mixed"),
    Step("state.py:ServerState.advanced", by=f"{_MEAN}.aggregate"),
)
_PARTS = {
    "equations": ("objectives/", "contributions.py", "methods/semianagg.py"),
    "checks": ("server/gate.py", "server/guard.py", "client/wire.py", "deployment/"),
}
"""What a reader may leave for later: SemiAnAgg itself, and what checks the answers."""
TYPES = ("messages.py:ClientInfo", "messages.py:Task", "messages.py:Update")


def path_of_a_round(source: Path) -> list[tuple[Step, Found]]:
    """Find all steps; one that its caller does not call in this order is an error."""
    steps = [(s, find(source, s.place)) for s in (*ASKING, *LEARNING, *COMBINING)]
    last: dict[str, int] = {}
    for step, found in steps:
        name = step.called or found.name.split(".")[-1]
        line = find(source, step.by).calls(name)
        if line is None or line < last.get(step.by, 0):
            raise SystemExit(
                f"{step.by} does not call {name}, or in another order than "
                "tools/draw/round.py draws"
            )
        last[step.by] = line
    return steps


def lines_to_read(source: Path) -> dict[str, int]:
    """Count what a reader goes through: steps, who calls them, and the types."""
    steps = [*ASKING, *LEARNING, *COMBINING]
    callers = [step.by for step in steps if step.by != _STAGE]
    counts = dict.fromkeys(("round", *_PARTS), 0)
    for place in dict.fromkeys([*(step.place for step in steps), *callers, *TYPES]):
        parts = (name for name, files in _PARTS.items() if place.startswith(files))
        counts[next(parts, "round")] += find(source, place).num_lines
    return counts
