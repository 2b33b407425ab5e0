"""Ways through forwarding tables, and their worst case, by the definitions alone."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from obliv.fabric.model import NONE, Fabric, Tables


def walked(fabric: Fabric, tables: Tables, source: int, lid: int) -> list[int]:
    """The slots by which a packet leaves node after node; nothing of the package is used for it."""
    row = {node: r for r, node in enumerate(tables.switch.tolist())}
    slots = [source]
    at = int(fabric.ports.peer[source])
    while fabric.nodes.kind[int(fabric.node_of[at])] == "switch":
        node = int(fabric.node_of[at])
        port = int(tables.out[row[node], lid])
        assert port not in (0, NONE), "the way ends too early"
        slots.append(int(fabric.first_slot[node]) + port)
        at = int(fabric.ports.peer[slots[-1]])
        assert at >= 0, "no cable"
        assert len(slots) <= len(fabric.nodes), "a loop"
    assert fabric.ports.lid[at] <= lid < fabric.ports.lid[at] + (1 << fabric.ports.lmc[at]), "the wrong end"
    return slots


def worst_by_hand(fabric: Fabric, tables: Tables, offsets: list[int]) -> int:
    """The largest matching of sources and destinations over any cable; `offsets` by place at a switch, in turn."""
    ends = fabric.endpoints.tolist()
    at: dict[int, list[int]] = defaultdict(list)
    for slot in sorted(fabric.ports.peer[ends].tolist()):
        at[int(fabric.node_of[slot])].append(int(fabric.ports.peer[slot]))
    place = {slot: k for hosts in at.values() for k, slot in enumerate(hosts)}
    used: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for i, s in enumerate(ends):
        for j, d in enumerate(ends):
            if i != j:
                for slot in walked(fabric, tables, s, int(fabric.ports.lid[d]) + offsets[place[s] % len(offsets)]):
                    used[slot].append((i, j))
    most = 0
    for pairs in used.values():
        i, j = np.array(pairs).T
        matrix = csr_array((np.ones(len(i), np.int8), (i, j)), shape=(len(ends), len(ends)))
        most = max(most, int((maximum_bipartite_matching(matrix) >= 0).sum()))
    return most
