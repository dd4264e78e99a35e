"""Who is there: which node is which site, learned by asking each node."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

import httpx
from flwr.app import ConfigRecord, RecordDict
from flwr.serverapp import Grid

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.setting import check_fit
from fedsemi.deployment.codec import decode_introduction
from fedsemi.deployment.coordinator.post import AWAY, Refusal, exchange, logger
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.introduction import check_introduction
from fedsemi.deployment.standing import EXCUSES, LEFT
from fedsemi.engine import Absence
from fedsemi.errors import FedSemiError, ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.text.printable import printable

_QUERY_SECONDS = 120.0
_REVISIT_SECONDS = 10.0
"""For whoever is away; the others wait meanwhile, in every round."""
_TRIES = 3
"""How often a node may introduce itself: everybody else waits meanwhile."""


class Roster:
    """The sites that fit the blueprint, and the nodes that they answer from.

    Without a register, as in a simulation, sites are believed who they say they are.
    """

    def __init__(
        self, grid: Grid, blueprint: Blueprint, register: Register | None = None
    ) -> None:
        self.blueprint = blueprint
        self._grid = grid
        self._register = register
        self._nodes: dict[int, int] = {}
        self._infos: dict[int, ClientInfo] = {}
        self._asked: set[int] = set()
        self._tries: Counter[int] = Counter()
        self._excused: set[int] = set()
        """Nodes that said they are away when they were asked who they are."""
        self._present: dict[int, bytes] = {}
        """The public key of each node that is connected."""
        self.policies: dict[int, str] = {}
        """The hash of each site's policy, as it introduced itself with."""
        self.refusals: list[str] = []

    def wait_for(self, num_sites: int, seconds: float) -> None:
        """Wait until so many sites have joined; raise if they do not in time.

        Also if they have other labels than the plan's card says.
        """
        end = time.monotonic() + seconds
        before = self.absent().keys()
        while len(self.online()) < num_sites - len(self.absent().keys() - before):
            if time.monotonic() > end:
                raise ProtocolError(
                    f"{len(self._infos)} of {num_sites} sites joined within "
                    f"{seconds:.0f} s{self._why()}",
                    code="FS2204",
                )
            time.sleep(0.5)
        check_fit(self.blueprint.experiment, self.infos())

    def infos(self) -> Sequence[ClientInfo]:
        """List the sites that have joined and take part, by id."""
        away = self.absent()
        return [self._infos[id] for id in sorted(self._infos) if id not in away]

    def absent(self) -> Mapping[int, Absence]:
        """Say which sites take no part: they have left, were retired, or are away."""
        return self._register.members.absent() if self._register else {}

    def excuse(self, site: int, refusal: Refusal) -> None:
        """Do without a site that has said that it leaves, or is away."""
        if self._register is not None:
            self._register.members.excuse(site, refusal.code, refusal.reason)

    def revisit(self) -> None:
        """Ask those who are away, and connected, whether they are back."""
        away = {id for id, why in self.absent().items() if not why.for_good}
        nodes = {node for id, node in self._nodes.items() if id in away}
        self._meet((nodes | self._excused) & self._present.keys(), _REVISIT_SECONDS)

    def online(self) -> Mapping[int, int]:
        """Return the node of each site that is connected now; meet new nodes."""
        with suppress(httpx.HTTPError):  # a busy SuperLink: go by its last answer
            found = self._grid.get_nodes()
            self._present = {node.node_id: node.public_key for node in found}
        # Who was refused may come back with the mistake repaired.
        self._asked &= self._present.keys() | set(self._nodes.values())
        new = self._present.keys() - self._asked
        self._meet({node for node in new if self._tries[node] < _TRIES})
        away = self.absent()
        return {
            id: node
            for id, node in self._nodes.items()
            if node in self._present and id not in away
        }

    def _meet(self, nodes: set[int], seconds: float = _QUERY_SECONDS) -> None:
        if not nodes:
            return
        content = RecordDict({"query": ConfigRecord({"v": 1})})
        letters = {node: (node, content) for node in sorted(nodes)}
        deadline = time.monotonic() + seconds
        post = exchange(self._grid, letters, "query", decode_introduction, deadline)
        for node, found in sorted(post.items()):
            try:
                self._admit(node, check_introduction(self.blueprint, found))
                self.policies[found.client] = found.policy_sha256
            except FedSemiError as error:
                reason = Refusal(error.code, printable(str(error.args[0]), 600))
                post.refused[node] = reason
        # A node that was cut off in the middle is asked again when it is back.
        self._asked |= nodes - post.lost
        unsent = {n for n, refusal in post.refused.items() if refusal.code == AWAY}
        self._tries.update(nodes - unsent)
        for node, refusal in post.refused.items():
            if refusal.code in EXCUSES:
                self._excuse_node(node, refusal)
                continue
            self.refusals.append(str(refusal))
            logger.warning("node %s: %s", node, refusal)

    def _excuse_node(self, node: int, refusal: Refusal) -> None:
        """Note what a site says of itself before it has introduced itself."""
        self._tries[node] = 0  # it is no mistake to be away
        self._excused.add(node)
        key = self._present.get(node)
        number = self._register.number_of(key) if self._register and key else None
        if number is not None:
            self.excuse(number, refusal)

    def _admit(self, node: int, info: ClientInfo) -> None:
        if self._register is not None:
            self._register.check(self._present[node], info)
        known = self._nodes.get(info.id)
        if known is not None and known != node and known in self._present:
            raise ProtocolError(
                f"site {info.id} is refused: another node has this id; give every "
                "site folder its own id in site.json",
                code="FS2113",
            )
        gone = self.absent().get(info.id)
        if gone is not None and gone.for_good:
            raise ProtocolError(
                f"site {info.id} {gone.reason}; `fedsemi admit` lets it in again",
                code=LEFT,
            )
        if self._register is not None:
            self._register.members.welcome(info.id)
        self._excused.discard(node)
        logger.info(
            "site %s joined: %s labeled, %s unlabeled images",
            info.id,
            info.num_labeled,
            info.num_unlabeled,
        )
        self._nodes[info.id] = node
        self._infos[info.id] = info

    def _why(self) -> str:
        return f"; {self.refusals[-1]}" if self.refusals else "; are they running?"
