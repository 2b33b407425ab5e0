"""Kernel: shortest routes that use channels about equally often."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.channel_loads import Switches
from obliv.kernels import kernel
from obliv.routings.graphs._kernels import distances_to

__all__ = ["shortest_routes"]


@kernel
def shortest_routes(order: Array, switches: Switches, routes: Array) -> None:
    """Store shortest routes to every destination.

    Each switch takes the channel that the fewest hosts have used so far, switches far from the destination first.

    Parameters
    ----------
    order : int array, shape (destinations,)
        Destinations, in the order in which they are routed.
    switches : Switches
        Each channel has one back.
    routes : int32 array, shape (destinations, switches)
        Written; -1 at the destination's switch and where no path leads there.
    """
    head, first, hosts, home = switches.head, switches.first, switches.hosts, switches.home
    count = len(hosts)
    far = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    sent = np.empty(count, np.int64)
    use = np.zeros(len(head), np.int64)
    for i in range(len(order)):
        d = order[i]
        distances_to(home[d : d + 1], first, head, far, queue)
        reached = 0
        for u in range(count):
            sent[u] = hosts[u]
            routes[d, u] = -1
            if far[u] >= 0:
                reached += 1
        for j in range(reached - 1, 0, -1):
            u = queue[j]
            best = -1
            for c in range(first[u], first[u + 1]):
                if far[head[c]] == far[u] - 1 and (best < 0 or use[c] < use[best]):
                    best = c
            routes[d, u] = best
            use[best] += sent[u]
            sent[head[best]] += sent[u]
