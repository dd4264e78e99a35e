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
from fedsemi.deployment.codec import decode_introduction
from fedsemi.deployment.coordinator.post import AWAY, Refusal, exchange, logger
from fedsemi.deployment.coordinator.register import Register
from fedsemi.deployment.introduction import check_introduction
from fedsemi.errors import FedSemiError, ProtocolError
from fedsemi.messages import ClientInfo
from fedsemi.text.printable import printable

_QUERY_SECONDS = 120.0
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
        self._present: dict[int, bytes] = {}
        """The public key of each node that is connected."""
        self.policies: dict[int, str] = {}
        """The hash of each site's policy, as it introduced itself with."""
        self.refusals: list[str] = []

    def wait_for(self, num_sites: int, seconds: float) -> None:
        """Wait until so many sites have joined; raise if they do not in time."""
        end = time.monotonic() + seconds
        while len(self.online()) < num_sites:
            if time.monotonic() > end:
                raise ProtocolError(
                    f"{len(self._infos)} of {num_sites} sites joined within "
                    f"{seconds:.0f} s{self._why()}",
                    code="FS2204",
                )
            time.sleep(0.5)

    def infos(self) -> Sequence[ClientInfo]:
        """List the sites that have joined, by id."""
        return [self._infos[id] for id in sorted(self._infos)]

    def online(self) -> Mapping[int, int]:
        """Return the node of each site that is connected now; meet new nodes."""
        with suppress(httpx.HTTPError):  # a busy SuperLink: go by its last answer
            found = self._grid.get_nodes()
            self._present = {node.node_id: node.public_key for node in found}
        # Who was refused may come back with the mistake repaired.
        self._asked &= self._present.keys() | set(self._nodes.values())
        new = self._present.keys() - self._asked
        self._meet({node for node in new if self._tries[node] < _TRIES})
        return {id: node for id, node in self._nodes.items() if node in self._present}

    def _meet(self, nodes: set[int]) -> None:
        if not nodes:
            return
        content = RecordDict({"query": ConfigRecord({"v": 1})})
        letters = {node: (node, content) for node in sorted(nodes)}
        deadline = time.monotonic() + _QUERY_SECONDS
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
            self.refusals.append(str(refusal))
            logger.warning("node %s: %s", node, refusal)

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
