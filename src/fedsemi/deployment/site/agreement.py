"""The plan that a site has agreed to: pinned by its hash, with a count of questions.

The policy is the owner's standing rule, an agreement is to one plan within it. The
owner of a site names the plan with `fedsemi agree`; a site that was never told one
agrees to the first that a coordinator brings, if its policy lets it. From then on it
answers to no other, and to this one as long as the policy lets it.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.plugged import plugins_of
from fedsemi.data.site import Site
from fedsemi.deployment.site.ledger import Ledger
from fedsemi.deployment.site.policy import Policy, Refused, read_policy
from fedsemi.deployment.site.terms import described, terms_of
from fedsemi.errors import ProtocolError
from fedsemi.messages import Memory, Task
from fedsemi.method import Method
from fedsemi.privacy.at_site import OWN
from fedsemi.privacy.steps import LETTER
from fedsemi.seeds import seed_of
from fedsemi.storage import append, locked, make_folder, remove, write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.weights import framed_digest

if TYPE_CHECKING:  # agreements are made where Flower is not installed, too
    from fedsemi.deployment.codec import Order

AGREED = "agreed.json"
_ASKED = "asked.txt"
_REMEDY = "to agree to it, the site's owner runs `fedsemi agree FOLDER plan.json`"
logger = logging.getLogger("fedsemi.deployment.site.agreement")


@dataclass(frozen=True, eq=False)
class Agreement:
    """What a site has agreed to; everything that it is asked passes through here."""

    folder: Path
    blueprint: Blueprint
    site: Site

    @cached_property
    def policy(self) -> Policy:
        """The owner's rules, as they stand now."""
        return read_policy(self.folder)

    def settle(self) -> None:
        """Go by what was agreed to; agree to the first plan that is brought."""
        with locked(self.folder):
            agreed = read_agreed(self.folder)
            if agreed is None:
                self._within_policy(beyond_bounds=False)
                self._write("the first plan that a coordinator brought")
                logger.warning("agreed to %s", described(terms_of(self.blueprint)))
            elif agreed["plan_sha256"] != self.blueprint.sha256:
                raise ProtocolError(
                    f"this site has agreed to plan {agreed['plan_sha256'][:12]} and "
                    f"was brought {self.blueprint.sha256[:12]}; {_REMEDY}",
                    code="FS2131",
                )
            elif agreed.get("plugins", {}) != plugins_of(self.blueprint.experiment):
                raise ProtocolError(
                    "a plug-in of the plan has changed since this site agreed to it; "
                    f"{_REMEDY}",
                    code="FS2132",
                )
            elif agreed["stages"] != terms_of(self.blueprint)["stages"]:
                raise ProtocolError(
                    "what the plan's methods send has changed since this site agreed "
                    f"to it; {_REMEDY}",
                    code="FS2132",
                )
            else:
                self._within_policy(_went_beyond(agreed))

    def agree(self, by: str, beyond_bounds: bool = False) -> None:
        """Agree for the owner of the site, in place of whatever was agreed before."""
        self._within_policy(beyond_bounds)
        with locked(make_folder(self.folder, private=True)):
            remove(self._asked)
            self._write(by, beyond_bounds)

    def admit(self, order: Order) -> None:
        """Refuse a task that the plan does not hold, or that asks too often.

        The seed is the plan's: a coordinator that chose it could ask for the same
        images twice with different weights and compare. It follows from the group,
        too, which may not be any number either.
        """
        stages, task, stage = self.blueprint.experiment.stages, order.task, order.stage
        if not (0 <= stage < len(stages) and 0 <= task.round < stages[stage].rounds):
            raise ProtocolError(
                f"round {task.round + 1} of stage {stage + 1} is not in the plan",
                code="FS2133",
            )
        if not 0 <= task.group < self._groups(stage):
            raise ProtocolError(
                f"group {task.group} of a round is not in the plan", code="FS2133"
            )
        seed = seed_of(self.blueprint.experiment.seed, "stage", stage)
        if task.seed != seed_of(seed, "task", task.round, task.client, task.group):
            raise ProtocolError("the task's seed is not the plan's", code="FS2133")
        self._check_company(order.sites)
        if self._is_later_step(order):
            self._check_no_model(task)
            return
        self.policy.rules.bounds.check_task(self.blueprint, task, self._method(stage))

    def check_model(self, order: Order) -> None:
        """Refuse a model that tells no images apart, after it was counted and charged.

        A refusal is an answer about the site's images, and a coordinator could find
        their spread by one after the other. Under masks and noise, which bound what a
        sum tells whatever the model, none is given.
        """
        hidden = not self._method(order.stage).sends_model
        if hidden and self.blueprint.experiment.privacy.noise_multiplier:
            return
        if not self._is_later_step(order):
            bounds = self.policy.rules.bounds
            bounds.check_spread(self.blueprint, order.task, self.site.client)

    def _is_later_step(self, order: Order) -> bool:
        """Tell whether a task trains nothing; the vault counts what it asks."""
        return order.task.group > 0 and not self._method(order.stage).sends_model

    def _check_no_model(self, task: Task) -> None:
        """Refuse a model in a step of a masked sum that is for letters alone."""
        if task.weights or task.broadcast.keys() != {LETTER}:
            raise ProtocolError(
                "a step of a masked sum brings more than a letter", code="FS2134"
            )

    def count(self, order: Order, memory: Memory, device: str) -> None:
        """Note what is asked, and charge it; the same question again costs nothing.

        It has the same answer if it goes on from the same memory and training repeats
        its bits, which it does on a processor. Under masks a site opens one sum of a
        round only, whatever its bits.
        """
        if self._is_later_step(order):
            return
        stage = order.stage
        masked = not self._method(stage).sends_model
        line, repeats = _question(order, memory, masked), masked or device == "cpu"
        make_folder(self._asked.parent, private=True)
        with locked(self.folder):
            asked = self._asked.read_text().splitlines() if self._asked.exists() else []
            times = asked.count(line)
            if times and repeats:
                return
            if not times:
                self._check_often(order, asked)
            name = f"{self.blueprint.sha256} {line}" + (f" {times}" if times else "")
            self._ledger.charge_round(self.blueprint, stage, order.task.round, name)
            if not asked:
                write_whole(self._asked, b"", private=True)
            append(self._asked, f"{line}\n".encode())

    def _check_often(self, order: Order, asked: Collection[str]) -> None:
        stage, round, method = order.stage, order.task.round, self._method(order.stage)
        # Of a masked round only the first step asks something of the images.
        fair = method.questions if method.sends_model else 1
        most = fair + self.policy.rules.bounds.spare
        if sum(old.startswith(f"{stage} {round} ") for old in set(asked)) >= most:
            raise ProtocolError(
                f"round {round + 1} of stage {stage + 1} was asked {most} times with "
                f"different weights; {_REMEDY} anew",
                code="FS2136",
            )

    def _groups(self, stage: int) -> int:
        """Count a round's questions: RSCFed's groups, two phases of other methods."""
        return self._method(stage).questions

    def _method(self, stage: int) -> Method[Any]:
        return self.blueprint.method(self.blueprint.experiment.stages[stage])

    @property
    def _ledger(self) -> Ledger:
        return Ledger(self.folder, self.policy)

    @property
    def _asked(self) -> Path:
        return memory_folder(self.folder, self.blueprint) / _ASKED

    def _check_company(self, sites: int) -> None:
        if _went_beyond(read_agreed(self.folder) or {}):
            return
        if sites < self.policy.rules.bounds.sites:
            raise ProtocolError(
                f"this site answers in no federation of {sites} "
                f"({self.policy.place('bounds.sites')})",
                code="FS6102",
            )

    def _within_policy(self, beyond_bounds: bool) -> None:
        if not beyond_bounds and self.blueprint.class_names != self.site.class_names:
            raise ProtocolError(
                "this site does not agree to the plan: its classes are not the site's",
                code="FS2130",
            )
        for broken in self.refused(beyond_bounds):
            place = self.policy.place(broken.rule)
            if broken.rule.startswith("bounds."):
                raise ProtocolError(
                    f"this site does not agree to the plan: {broken.why} ({place}); "
                    "change the plan, or let the site's owner run `fedsemi agree "
                    "FOLDER plan.json --beyond-bounds`",
                    code="FS2130",
                )
            raise ProtocolError(
                f"this site's policy refuses the plan: {broken.why} ({place}); "
                f"{broken.remedy}",
                code="FS6101",
            )

    def refused(self, beyond_bounds: bool = False) -> Iterator[Refused]:
        """Say which lines of the policy the plan breaks, the weightiest first."""
        yield from self.policy.refused(self.blueprint)
        yield from self.policy.refused_among_strangers(self.folder)
        beyond = list(self.policy.beyond(self.blueprint, self.site))
        if not beyond_bounds:
            yield from beyond
        if beyond_bounds or not beyond:  # else the plan may be too large to look at
            yield from self.policy.refused_statistics(self.blueprint)

    def _write(self, by: str, beyond_bounds: bool = False) -> None:
        content = {
            **terms_of(self.blueprint),
            "agreed_by": by,
            "beyond_bounds": beyond_bounds,
            "policy_sha256": self.policy.sha256,
        }
        text = json.dumps(content, indent=2) + "\n"
        write_whole(self.folder / AGREED, text.encode(), private=True)


def read_agreed(folder: Path) -> dict[str, Any] | None:
    """Read what a site has agreed to, None if to nothing yet."""
    path = folder / AGREED
    try:
        content = parsed_object(path.read_bytes())
        if not isinstance(content["plan_sha256"], str):
            raise TypeError("plan_sha256 is no text")
        described(content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        # Fails closed: a site whose agreement is unreadable must not agree anew.
        raise ProtocolError(
            f"{AGREED} of this site cannot be read ({type(error).__name__}); its owner "
            "agrees again with `fedsemi agree FOLDER plan.json`",
            code="FS2132",
        ) from None
    return content


def allowed_by(folder: Path) -> Collection[str]:
    """Name the plug-ins whose code the owner of a site agreed to let run there."""
    return set((read_agreed(folder) or {}).get("plugins", {}))


def _went_beyond(agreed: Mapping[str, Any]) -> bool:
    return agreed.get("beyond_bounds") is True


def memory_folder(folder: Path, blueprint: Blueprint) -> Path:
    """Say where a site keeps what it remembers of a plan."""
    return folder / "memory" / blueprint.sha256[:16]


def _question(order: Order, memory: Memory, masked: bool) -> str:
    """Name what is asked: model, broadcast, and the memory that the site goes on from.

    The letter that begins masked sums names an attempt at the round. Another attempt is
    the same question: its sum is opened once, and has the same noise.
    """
    task = order.task
    before = framed_digest({k: v for k, v in memory.items() if k not in OWN})
    aside = (LETTER,) if masked else ()
    told = framed_digest({k: v for k, v in task.broadcast.items() if k not in aside})
    told = f"{framed_digest(task.weights)} {told} {task.group} {before}"
    return f"{order.stage} {task.round} {hashlib.sha256(told.encode()).hexdigest()}"
