"""Undirected links: channels paired with their opposites, and flows over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.content import Value
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.topologies.base import Topology

__all__ = ["LinkFlows", "Links", "links_of"]


@dataclass(frozen=True, eq=False)
class Links(Value):
    """The links of an undirected network.

    Attributes
    ----------
    forward, backward : int64 arrays, shape (links,)
        The two channels of every link.
    link : int64 array, shape (channels,)
        The link of every channel.
    sign : int64 array, shape (channels,)
        1 for the forward channel of its link, -1 for the backward one.
    """

    forward: Array
    backward: Array
    link: Array
    sign: Array


@dataclass(frozen=True, eq=False)
class LinkFlows(Value):
    """A unit flow from every terminal to one root; the flow between two terminals is a difference of two of them.

    Attributes
    ----------
    links : Links
    root : int
        A node.
    denominator : int
        All amounts are over it.
    amount : int64 array, shape (links, terminals)
        What the flow of each terminal carries over each link along the forward channel; negative against it.
    """

    links: Links
    root: int
    denominator: int
    amount: Array

    def over(self, channel: int) -> Array:
        """Return what the flow of every terminal carries along a channel, negative where it runs against it."""
        amount: Array = self.amount[self.links.link[channel]] * self.links.sign[channel]
        return amount

    def between(self, source: int, destination: int) -> Array:
        """Return the flow of a pair of terminals over every channel, in units of 1/denominator."""
        across = self.amount[:, source] - self.amount[:, destination]
        flow: Array = np.maximum(0, across[self.links.link] * self.links.sign)
        return flow


def links_of(topology: Topology, spec: str) -> Links:
    """Return the links of a network whose channels all have an opposite of the same bandwidth.

    Parallel channels are paired in the order of their bandwidths.

    Raises
    ------
    RoutingError
        If a channel has no opposite of its bandwidth; `spec` names the routing that needs it.
    """
    tail, head = topology.tail.astype(np.int64), topology.head.astype(np.int64)
    speed = topology.bandwidth
    rank = np.zeros(topology.channels, np.int64)
    if speed:
        place = {value: k for k, value in enumerate(sorted(set(speed)))}
        rank = np.array([place[value] for value in speed], np.int64)
    here = np.lexsort((rank, head, tail))
    there = np.lexsort((rank, tail, head))
    lost = (
        (tail[here] != head[there]) | (head[here] != tail[there]) | (rank[here] != rank[there]) | (tail == head)[here]
    )
    if lost.any():
        channel = int(here[np.argmax(lost)])
        named = topology.channel_name(channel)
        raise RoutingError(
            f"{spec} needs an undirected network, where every channel has an opposite of the same bandwidth: "
            f"channel {channel} ({named}) has none"
        )
    opposite = np.empty(topology.channels, np.int64)
    opposite[here] = there
    forward = np.flatnonzero(tail < head)
    link = np.empty(topology.channels, np.int64)
    link[forward] = link[opposite[forward]] = np.arange(len(forward))
    return Links(forward, opposite[forward], link, np.where(tail < head, 1, -1))
