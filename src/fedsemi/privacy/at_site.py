"""A site in a masked round: it trains, and then answers step by step.

What it learned stays in its memory until the round is over; what it has masked, signed
and opened is in its vault.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import Memory, Task, Update, Weights, public
from fedsemi.method import Method
from fedsemi.noise import shortened as limited
from fedsemi.noise import with_noise
from fedsemi.privacy.fixed_point import from_fixed, to_fixed
from fedsemi.privacy.identity import Identity
from fedsemi.privacy.keys import hashed
from fedsemi.privacy.letters import (
    Account,
    Begin,
    Consents,
    Envelopes,
    Letter,
    Roster,
    Survivors,
)
from fedsemi.privacy.parameters import MOST_CLAIM
from fedsemi.privacy.rules import Rules, require
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.steps import LETTER, STEPS, as_tensor, read, to_tensor
from fedsemi.privacy.vault import Vault
from fedsemi.sums import Sums
from fedsemi.weights import framed_digest

_STEP, _CLAIMS, _SESSION = "masked.step", "masked.claims", "masked.session"
OWN = (_STEP, _CLAIMS, _SESSION)
"""What of a memory is a masked round's alone."""


@dataclass(frozen=True)
class Terms:
    """What a site goes by: the plan's settings."""

    context: str
    rules: Rules
    clip: float
    noise: float = 0.0
    """Noise of the sum of all steps, in units of `clip`; sites add it in parts."""
    secret: bytes = field(default=b"", repr=False)
    """What this site's part is made from; in a simulation the task's seed is enough."""

    def most_sum(self, num_sites: int) -> float:
        """Return how large a number of the sum of steps may be; shares sum to one.

        With noise, what each site adds is shortened, and the noise is taken to stay
        within ten of its deviations.
        """
        if not self.noise:
            return self.clip
        spread = np.sqrt(num_sites / self.rules.needed(num_sites))
        return self.clip * (num_sites + 10 * self.noise * float(spread))

    def part(self, numbers: NDArray[np.float64], num_sites: int, seed: int) -> Any:
        """Shorten a site's part of the sum to `clip`, and add its part of the noise.

        A sum is opened by no fewer sites than the rules need, so that its noise has at
        least the deviation noise * clip however many are lost. Sites that tell others
        their parts leave so much less of it.
        """
        if not self.noise:
            return numbers
        each = self.noise * self.clip / np.sqrt(self.rules.needed(num_sites))
        return with_noise(limited(numbers, self.clip), each, self.secret, "part", seed)


@dataclass(frozen=True)
class AtSite:
    """A site with its method, its signing key and its vault."""

    method: Method[Any]
    terms: Terms
    identity: Identity
    vault: Vault

    def carry_out(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Answer one step."""
        terms, unlabeled = self.terms, client.num_unlabeled > 0
        me = client.id, terms.context, terms.rules, self.identity, self.vault
        site = SumSite(*me, unlabeled=unlabeled)
        step, text = STEPS[task.group], task.broadcast[LETTER]
        if step.name == "keys":
            return self._train(site, task, client, memory)
        if step.name == "shares":
            answer: Letter = site.share(task.round, read(Roster, text))
        elif step.name == "claims":
            claims = self._rounded_claims(memory, site.session(task.round))
            site.receive(task.round, read(Envelopes, text))
            fixed, bound = to_fixed(claims.numpy(), "claims"), site.bound(task.round)
            answer = site.claim(task.round, fixed, bound)
        elif step.answer is None:
            return self._masked(site, task, memory), memory
        elif step.name.endswith("_set"):
            answer = site.consent(task.round, step.phase, read(Survivors, text))
        else:
            answer = site.open(task.round, step.phase, read(Consents, text))
        return answered(task, as_tensor(answer)), memory

    def _train(
        self, site: SumSite, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Make keys, then learn; keep the step for later instead of sending it."""
        told = {k: v for k, v in task.broadcast.items() if k != LETTER}
        nonce = read(Begin, task.broadcast[LETTER]).nonce
        bound = bound_of(task.weights, told)
        advert = site.begin(task.round, nonce, bound)
        before = {k: v for k, v in memory.items() if k not in OWN}
        asked = replace(task, broadcast=told)
        update, kept = self.method.train(asked, client, before)
        step = shortened(flat(update.weights) - flat(task.weights), self.terms.clip)
        claims = self._sums.claims(public(update) if self.terms.noise else update)
        remembered = {
            **kept,
            _STEP: torch.from_numpy(step),
            _CLAIMS: claims,
            _SESSION: _bytes(site.session(task.round)),
        }
        return answered(task, as_tensor(advert)), remembered

    def _masked(self, site: SumSite, task: Task, memory: Memory) -> Update:
        """Mask the site's part of the mean, whose share it finds by itself."""
        account = read(Account, task.broadcast[LETTER])
        claims = self._rounded_claims(memory, site.session(task.round))
        dealt = account.group == site.group(task.round)
        require(dealt, "the group is not the plan's")
        totals = site.total(task.round, account, len(claims))
        bound = bound_with(site.bound(task.round), totals)
        site.hear(task.round, bound)
        sums, num = torch.from_numpy(totals), len(account.claims)
        share = self._sums.share(claims, sums, task.round, num)
        step = share * memory[_STEP].double().numpy()
        numbers = self.terms.part(step, site.num_sites(task.round), task.seed)
        if self.terms.rules.grouped:
            numbers = np.append(numbers, share)
        masked = site.mask(task.round, "model", to_fixed(numbers, "model"), bound)
        return answered(task, to_tensor(masked))

    def _rounded_claims(self, memory: Memory, session: bytes) -> Tensor:
        """Return the claims as they are summed, so that nobody's exceed the sum.

        A coordinator says from which memory a site goes on. Sites that summed the steps
        of an older round, all but one, would lay that one's open.
        """
        if _SESSION not in memory or not torch.equal(memory[_SESSION], _bytes(session)):
            raise ProtocolError(
                "the site's memory is not of this session; nothing was sent",
                code="FS6005",
            )
        claims = memory[_CLAIMS].double()
        if not bool(((claims >= 0) & (claims <= MOST_CLAIM)).all()):
            raise ProtocolError("a claim is no number that can be", code="FS6008")
        return torch.from_numpy(
            from_fixed(to_fixed(claims.numpy(), "claims"), "claims")
        )

    @property
    def _sums(self) -> Sums:
        return self.method.as_sums()


def _bytes(text: bytes) -> Tensor:
    return torch.tensor(list(text), dtype=torch.uint8)


def answered(task: Task, answer: Tensor) -> Update:
    """Return an answer that holds nothing but a part of a masked sum."""
    told = {STEPS[task.group].name: answer}
    return Update(task.client, task.round, {}, 0, 0, statistics=told, group=task.group)


def bound_of(weights: Weights, told: Mapping[str, Tensor]) -> bytes:
    """Hash what all sites of a round must have been told alike."""
    return hashed(framed_digest(weights), framed_digest(told))


def bound_with(bound: bytes, totals: NDArray[np.float64]) -> bytes:
    """Hash it together with the sums of the claims."""
    return hashed(bound, totals.tobytes())


def flat(weights: Weights) -> NDArray[np.float32]:
    """Lay out all floating numbers in the order of their names.

    Batch-norm statistics are among them; counters of batches are not, and stay.
    """
    floats = [weights[k] for k in sorted(weights) if weights[k].is_floating_point()]
    whole: NDArray[np.float32] = torch.cat(
        [f.detach().flatten() for f in floats]
    ).numpy()
    return whole


def shortened(step: NDArray[np.float32], clip: float) -> NDArray[np.float32]:
    """Return a step no longer than agreed: who cannot be seen bounds itself."""
    length = float(np.sqrt(np.sum(np.square(step, dtype=np.float64))))
    if not np.isfinite(length):
        raise ProtocolError("the model after training is not finite", code="FS6008")
    return step if length <= clip else step * np.float32(clip / length)
