"""A method whose server sees sums alone: of claims, and of steps by their shares.

Eq. 4 of SemiAnAgg needs of every class the sum over sites of r_kc, and each site finds
its own share from that. So a round has two sums: of the claims [N^L_k, r_k1 ... r_kC],
and then of share_k * (local - global weights), by which the global model moves. A site
that is lost between the two leaves its share with the old model.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fedsemi.data.client import Client
from fedsemi.errors import ConfigError, ProtocolError, RoundFailed
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, Statistic, WrappedMethod
from fedsemi.privacy.at_site import OWN, AtSite, Terms, bound_of, bound_with
from fedsemi.privacy.fixed_point import NO_NUMBER, check_room
from fedsemi.privacy.held import HELD, held, held_in
from fedsemi.privacy.identity import Identity, Unsigned
from fedsemi.privacy.keys import hashed
from fedsemi.privacy.letters import (
    Advert,
    Begin,
    Claimed,
    Consent,
    Envelopes,
    Opened,
)
from fedsemi.privacy.model_sum import check_own_sums, moved, num_floats, vars_of
from fedsemi.privacy.parameters import LEAST_UNLABELED, MOST_CLAIM, Phase
from fedsemi.privacy.questions import asked, group_sums
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.steps import (
    LETTER,
    STEPS,
    as_tensor,
    read,
    statistics_of,
    to_integers,
)
from fedsemi.privacy.vault import Vault
from fedsemi.state import GroupSum, ServerState
from fedsemi.sums import Sums

_NO_MODEL: Weights = {}


@dataclass(frozen=True)
class MaskedState(ServerState):
    """The server's state, with the sums that are under way."""

    session: Any = None
    """A SumSession in the middle of a round; none between rounds, when states are
    saved, so that a restarted server begins the round with new keys."""
    step: int = 0
    """Which step is asked next."""
    totals: Any = None
    """What the claims came to, once they are opened."""
    sums: Any = ()
    """Those of the groups, once they are opened and until the model has moved."""

    @property
    def opened(self) -> tuple[GroupSum, ...]:
        """Sums of groups, which the guard compares before the model moves by them."""
        sums: tuple[GroupSum, ...] = self.sums
        return sums

    def keeping(self, parts: Sequence[float]) -> MaskedState:
        """Say what of each opened sum the model is moved by."""
        pairs = zip(self.opened, parts, strict=True)
        return replace(self, sums=tuple(replace(sum, part=part) for sum, part in pairs))


class Masked(WrappedMethod[MaskedState]):
    """Does as another method does, without seeing what single sites send."""

    sends_model = False

    def __init__(self, method: Method[Any], terms: Terms) -> None:
        super().__init__(method)
        check_own_sums(method)
        sums = method.as_sums()  # or say why not, before anything runs
        least = LEAST_UNLABELED if sums.num_unlabeled else 0
        rules = replace(terms.rules, least_unlabeled=least)
        self.terms = replace(terms, rules=rules)
        self._identity: Identity = Unsigned()
        self._vault: Vault | None = None
        # Of this process: a server that starts again begins with other sessions.
        self._salt = secrets.token_bytes(32)

    def at(self, identity: Identity, vault: Vault) -> Masked:
        """Return the method as a deployed site runs it, with its key and vault."""
        here = Masked(self.method, self.terms)
        here._identity, here._vault = identity, vault
        return here

    @property
    def sums(self) -> Sums:
        """How sites find their shares."""
        return self.method.as_sums()

    @property
    def name(self) -> str:  # type: ignore[override]
        """What the method is called."""
        return self.method.name

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What sites answer, step by step."""
        return statistics_of(self.sums.num_claims)

    @property
    def questions(self) -> int:
        """One for each step."""
        return len(STEPS)

    @property
    def anchor_sha256(self) -> str:
        """The method's."""
        return self.method.anchor_sha256

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> MaskedState:
        """Begin as the method does, if there are sites enough to hide among."""
        plain = self.method.init(weights, clients, seed)
        state = MaskedState(**vars_of(plain))
        self._check_sites(state)
        return state

    def plan(self, state: MaskedState) -> Sequence[Task]:
        """Ask for the next step."""
        if state.session is None:
            begin = as_tensor(Begin(nonce=self._nonce(state)))
            return [
                replace(task, broadcast={**task.broadcast, LETTER: begin})
                for task in self.method.plan(state)
            ]
        infos = {client.id: client for client in state.clients}
        return [
            replace(
                state.task(infos[id], state.step, **{LETTER: as_tensor(letter)}),
                weights=_NO_MODEL,
            )
            for id, letter in asked(state.session, STEPS[state.step]).items()
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Answer a step."""
        if self._vault is not None:
            here = AtSite(self.method, self.terms, self._identity, self._vault)
            return here.carry_out(task, client, memory)
        vault = held_in(memory)
        here = AtSite(self.method, self.terms, self._identity, vault)
        try:
            update, kept = here.carry_out(task, client, memory)
        except ProtocolError as error:
            if error.code != NO_NUMBER:
                raise
            # One site's training ran away: the site is lost, and not the simulation.
            return Update(task.client, task.round, {}, 0, 0, group=task.group), memory
        if task.group == len(STEPS) - 1:
            return update, {k: v for k, v in kept.items() if k not in (*OWN, *HELD)}
        return update, {**kept, **held(vault)}

    def aggregate(self, state: MaskedState, updates: Sequence[Update]) -> MaskedState:
        """Take the answers of a step; after the last one, move the model.

        The sums of groups are laid open first, and the same answers move the model when
        they come with what is left of each.
        """
        if state.opened:
            steps = [each.part * each.step for each in state.opened if each.summed]
            return self._moved(state, np.sum(steps, axis=0))
        try:
            return self._taken(state, updates)
        except (ProtocolError, ConfigError) as error:
            raise RoundFailed(str(error.args[0]), error.code) from error

    def _taken(self, state: MaskedState, updates: Sequence[Update]) -> MaskedState:
        step = STEPS[state.step]
        found = {
            update.client: update.statistics[step.name]
            for update in updates
            if step.name in update.statistics
        }
        session = state.session or SumSession(
            self.terms.rules, self.terms.context, state.round, self._nonce(state)
        )
        following = replace(state, step=state.step + 1)
        if step.name == "keys":
            adverts = {id: read(Advert, text) for id, text in found.items()}
            session = session.with_adverts(adverts)
            self._check_room(len(session.roster.adverts))  # some may have come later
            return replace(following, session=session)
        if step.name == "shares":
            sealed = {id: read(Envelopes, text) for id, text in found.items()}
            return replace(following, session=session.with_envelopes(sealed))
        if step.name == "claims":
            claimed = {id: read(Claimed, text) for id, text in found.items()}
            session = session.with_claims(claimed, self.sums.num_claims)
            return replace(following, session=session)
        if step.answer is None:
            # In groups the share comes with the step, whose mean length is compared.
            size = num_floats(state.whole) + self.terms.rules.grouped
            numbers = {id: to_integers(t, "model") for id, t in found.items()}
            session = session.with_numbers("model", numbers, size)
            return replace(following, session=session)
        if step.answer is Consent:
            signed = {id: read(Consent, text).signature for id, text in found.items()}
            return replace(following, session=session.with_consents(step.phase, signed))
        opened = {id: read(Opened, text) for id, text in found.items()}
        helped = session.helpers(step.phase, opened)
        unlocked = session.secrets(step.phase, helped)
        sums = session.opened(step.phase, unlocked, self._bound(state, step.phase))
        if step.phase == "claims":
            session = session.accounted(unlocked, helped)
            return replace(following, session=session, totals=sums[0])
        if self.terms.rules.grouped:
            return replace(state, sums=group_sums(session, sums))
        return self._moved(state, sums[0])

    def _bound(self, state: MaskedState, phase: Phase) -> bytes:
        """Hash what all sites were told alike, before the claims or after them."""
        (first, *_) = self.method.plan(state)
        bound = bound_of(state.whole, first.broadcast)
        return bound if phase == "claims" else bound_with(bound, state.totals)

    def _moved(self, state: MaskedState, sums: NDArray[np.float64]) -> MaskedState:
        """Move the model by the sum of all steps, and close the round."""
        weights = moved(state.whole, sums)
        closed = replace(state, session=None, step=0, totals=None, sums=())
        return closed.advanced(weights, (), torch.empty(0))

    def _nonce(self, state: MaskedState) -> bytes:
        return hashed(self._salt, self.terms.context, state.round)

    def _check_sites(self, state: MaskedState) -> None:
        """Refuse a federation in which a sum would hide nobody."""
        num, least = len(self.method.plan(state)), self.terms.rules.least_sites
        if num < least:
            few = "learns from labels alone, and " if self.method.labels_only else ""
            raise ConfigError(
                f"{self.name} {few}asks {num} sites, whose masked sum would hide less "
                f"than privacy.least_sites = {least}; let it begin from a model that "
                "was warmed up elsewhere (start), or set privacy.plain_warm_up",
                code="FS6011",
            )
        self.terms.rules.check_company(num)
        self.check_needs(state.clients)
        self._check_room(num)

    def check_needs(self, clients: Sequence[ClientInfo]) -> None:
        """Refuse what the method does, and sums of too few sites' unlabeled images."""
        super().check_needs(clients)
        least = self.terms.rules.least_unlabeled
        num = sum(client.num_unlabeled > 0 for client in clients)
        if num < least:
            raise ConfigError(
                f"{self.name} sums what sites claim for their unlabeled images, and "
                f"{num} of {len(clients)} have any: {least} are needed for the "
                "sum to hide one's; let more sites take part, or leave "
                "privacy.masked out",
                code="FS6032",
            )

    def _check_room(self, num: int) -> None:
        check_room(self.terms.most_sum(num), num, "model")
        check_room(num * MOST_CLAIM, num, "claims")
