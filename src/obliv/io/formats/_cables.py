"""Channels joined to links of two directions, and what simulators cannot have."""

from __future__ import annotations

from collections import Counter, defaultdict, deque

from obliv.errors import TopologyError
from obliv.topologies.base import Topology

__all__ = ["cables", "require_plain"]


def cables(topology: Topology) -> list[tuple[int, int]]:
    """Return the links: a channel and the one back, -1 where a channel has none.

    Parallel channels are joined in their order.

    Examples
    --------
    >>> from obliv.topologies.families.grids import ring
    >>> cables(ring(3))
    [(0, 3), (1, 4), (2, 5)]
    """
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    links: list[list[int]] = []
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        if waiting[head, tail]:
            links[waiting[head, tail].popleft()][1] = channel
        else:
            waiting[tail, head].append(len(links))
            links.append([channel, -1])
    return [(forth, back) for forth, back in links]


def require_plain(topology: Topology, tool: str) -> None:
    """Refuse networks without links, with rates, bandwidths, self-loops, parallel or one-way channels."""
    if not topology.channels:
        raise TopologyError(f"{tool} needs a network with links")
    if not topology.unit_rates:
        raise TopologyError(
            f"{tool} has no rates of terminals: leave out injection= and ejection=, or use topology.with_rates()"
        )
    if not topology.unit_bandwidth:
        raise TopologyError(f"the network has channels of several bandwidths, which the file for {tool} cannot hold")
    count = Counter(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    for (tail, head), times in count.items():
        name = f"{topology.name_of(tail)} -> {topology.name_of(head)}"
        if tail == head:
            raise TopologyError(f"{tool} has no links from a node to itself: {name}")
        if times > 1:
            raise TopologyError(f"{tool} cannot tell parallel channels apart: there are {times} of {name}")
        if (head, tail) not in count:
            raise TopologyError(f"links of {tool} have two directions: {name} has no channel back")
