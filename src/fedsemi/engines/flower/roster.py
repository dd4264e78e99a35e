"""Who is there: which node is which site, learned by asking each node once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import httpx
from flwr.app import ConfigRecord, RecordDict
from flwr.serverapp import Grid

from fedsemi.blueprint import Blueprint
from fedsemi.engines.flower.codec import decode_introduction
from fedsemi.engines.flower.desk import check_introduction
from fedsemi.engines.flower.post import exchange, logger
from fedsemi.errors import ProtocolError
from fedsemi.messages import ClientInfo

_QUERY_SECONDS = 120.0


class Roster:
    """The sites that fit the blueprint, and the nodes that they answer from."""

    def __init__(self, grid: Grid, blueprint: Blueprint) -> None:
        self._grid = grid
        self._blueprint = blueprint
        self._nodes: dict[int, int] = {}
        self._infos: dict[int, ClientInfo] = {}
        self._asked: set[int] = set()
        self._present: set[int] = set()
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
            self._present = set(self._grid.get_node_ids())
        present = self._present
        self._meet(present - self._asked, present)
        return {id: node for id, node in self._nodes.items() if node in present}

    def _meet(self, nodes: set[int], present: set[int]) -> None:
        if not nodes:
            return
        content = RecordDict({"query": ConfigRecord({"v": 1})})
        letters = {node: (node, content) for node in sorted(nodes)}
        deadline = time.monotonic() + _QUERY_SECONDS
        post = exchange(self._grid, letters, "query", decode_introduction, deadline)
        for node, found in sorted(post.items()):
            try:
                self._admit(node, check_introduction(self._blueprint, found), present)
            except ProtocolError as error:
                post.refused[node] = str(error)
        # A node that was cut off in the middle is asked again when it is back.
        self._asked |= nodes - post.lost
        for node, reason in post.refused.items():
            self.refusals.append(reason)
            logger.warning("node %s: %s", node, reason)

    def _admit(self, node: int, info: ClientInfo, present: set[int]) -> None:
        known = self._nodes.get(info.id)
        if known in present:
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
