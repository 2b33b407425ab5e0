"""Fabrics made by hand and at random, and what their tables do, in plain Python: an oracle for the kernels."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from tests.fabric.damage import relabelled

from obliv.fabric.model import RATES, Fabric, Nodes, Ports, Tables

End = tuple[int, int]  # node, port


def fabric_of(
    kinds: str,
    ports: list[int],
    cables: list[tuple[End, End]],
    *,
    lmc: int = 0,
    rate: dict[End, str] | None = None,
    descriptions: list[str] | None = None,
    name: str = "by hand",
) -> Fabric:
    """A fabric of nodes, "h" a channel adapter, "s" a switch, "r" a router; LIDs in the order of the slots."""
    first = np.concatenate([[0], np.cumsum([count + 1 for count in ports])])
    slots = int(first[-1])
    peer = np.full(slots, -1, np.int64)
    speed = np.full(slots, 0, np.int32)
    rates = tuple(sorted(set(RATES.values())))
    for one, two in cables:
        for (v, p), (w, q) in ((one, two), (two, one)):
            peer[first[v] + p] = first[w] + q
            word = (rate or {}).get((v, p), "4xQDR")
            speed[first[v] + p] = -1 if word == "?" else rates.index(RATES[word])
    speed[peer < 0] = -1
    lid, lmcs = np.zeros(slots, np.int32), np.zeros(slots, np.int8)
    at = 1 << lmc
    for v, kind in enumerate(kinds):
        for p in [0] if kind == "s" else range(1, ports[v] + 1):
            lid[first[v] + p] = at
            lmcs[first[v] + p] = 0 if kind == "s" else lmc
            at += 1 << lmc
    words = {"h": "ca", "s": "switch", "r": "router"}
    return Fabric(
        name=name,
        nodes=Nodes(
            kind=tuple(words[kind] for kind in kinds),
            ident=tuple(f"{kind.upper()}-{v:016x}" for v, kind in enumerate(kinds)),
            guid=np.arange(1, len(kinds) + 1, dtype=np.uint64),
            description=tuple(descriptions or [f"{kind}{v}" for v, kind in enumerate(kinds)]),
            line=np.zeros(len(kinds), np.int32),
        ),
        ports=Ports(peer, np.zeros(slots, np.uint64), lid, lmcs, speed, np.zeros(slots, np.int32)),
        first_slot=first.astype(np.int64),
        rates=rates,
    )


def bare_fabric(
    kind: tuple[str, ...], first_slot: np.ndarray, peer: np.ndarray, rates: tuple[Fraction, ...] = (Fraction(32),)
) -> Fabric:
    """Cables of one speed between nodes without names, GUIDs and LIDs."""
    nodes, slots = len(kind), len(peer)
    blank = np.zeros(slots, np.int32)
    return Fabric(
        name="bare",
        nodes=Nodes(
            kind=kind,
            ident=tuple(map(str, range(nodes))),
            guid=np.zeros(nodes, np.uint64),
            description=("",) * nodes,
            line=np.zeros(nodes, np.int32),
        ),
        ports=Ports(peer, np.zeros(slots, np.uint64), blank, np.zeros(slots, np.int8), blank, blank),
        first_slot=first_slot,
        rates=rates,
    )


def random_fabric(seed: int, *, lmc: int = 0, mixed: bool = False, hosts: int = 5) -> Fabric:
    """Switches joined at random, with parallel cables and cables from a switch to itself; nodes in any order."""
    rng = np.random.default_rng(seed)
    switches = int(rng.integers(2, 6))
    used = [0] * (hosts + switches)

    def port(v: int) -> End:
        used[v] += 1
        return v, used[v]

    cables: list[tuple[End, End]] = []
    for h in range(hosts):
        cables.append((port(h), port(hosts + int(rng.integers(switches)))))
    for s in range(1, switches):
        cables.append((port(hosts + s), port(hosts + int(rng.integers(s)))))
    for _ in range(int(rng.integers(1, 6))):
        one, two = rng.integers(switches, size=2).tolist()
        cables.append((port(hosts + one), port(hosts + two)))
    rate = {}
    if mixed:
        for one, two in cables:
            rate[one] = rate[two] = str(rng.choice(["4xQDR", "4xFDR10", "1xQDR", "4xEDR"]))
    ports = [count + int(rng.integers(2)) for count in used]
    fabric = fabric_of("h" * hosts + "s" * switches, ports, cables, lmc=lmc, rate=rate)
    return relabelled(fabric, seed)[0]


def random_tables(fabric: Fabric, seed: int, damage: int = 0) -> Tables:
    """Shortest ways to every LID, chosen at random at every switch; some entries then replaced by any number."""
    rng = np.random.default_rng(seed)
    switches = fabric.switches.tolist()
    top = int((fabric.ports.lid + (1 << fabric.ports.lmc.astype(int))).max())
    out = np.full((len(switches), top), 255, np.uint8)
    for slot in np.flatnonzero(fabric.ports.lid > 0).tolist():
        owner = int(fabric.node_of[slot])
        if owner in switches:
            continue
        for lid in range(int(fabric.ports.lid[slot]), int(fabric.ports.lid[slot]) + (1 << int(fabric.ports.lmc[slot]))):
            far = {owner: 0}
            queue = deque([owner])
            while queue:
                v = queue.popleft()
                for s in range(int(fabric.first_slot[v]), int(fabric.first_slot[v + 1])):
                    if fabric.ports.peer[s] >= 0 and (v == owner or fabric.nodes.kind[v] == "switch"):
                        w = int(fabric.node_of[fabric.ports.peer[s]])
                        if w not in far:
                            far[w] = far[v] + 1
                            queue.append(w)
            for r, v in enumerate(switches):
                good = [
                    p
                    for p in range(1, int(fabric.first_slot[v + 1] - fabric.first_slot[v]))
                    if fabric.ports.peer[fabric.first_slot[v] + p] >= 0
                    and far.get(int(fabric.node_of[fabric.ports.peer[fabric.first_slot[v] + p]]), 99) < far.get(v, 99)
                ]
                if good:
                    out[r, lid] = rng.choice(good)
    for _ in range(damage):
        out[rng.integers(len(switches)), rng.integers(1, top)] = rng.choice([0, 1, 2, 3, 4, 9, 255])
    return Tables(f"random {seed}", fabric.switches, out, np.zeros(len(out), np.int32), "opensm")


def walk(fabric: Fabric, tables: Tables, source: int, destination: int, lid: int) -> list[int] | None:
    """The slots by which a packet leaves node after node, None where it does not get to that port."""
    slots = [source]
    for _ in range(len(fabric.nodes.kind) + 1):
        ahead = int(fabric.ports.peer[slots[-1]])
        if ahead < 0:
            return None
        v = int(fabric.node_of[ahead])
        if fabric.nodes.kind[v] != "switch":
            return slots if ahead == destination else None
        rows = np.flatnonzero(tables.switch == v)
        if not len(rows) or lid >= tables.out.shape[1]:
            return None
        port = int(tables.out[rows[0], lid])
        if port in (0, 255) or port >= fabric.first_slot[v + 1] - fabric.first_slot[v]:
            return None
        slots.append(int(fabric.first_slot[v]) + port)
    return None


def loads_of(fabric: Fabric, tables: Tables, offsets: Any) -> dict[tuple[int, int], dict[int, Fraction]]:
    """What a unit from each endpoint to each puts on every slot; ``offsets(i, j)`` lists the LIDs it may use."""
    result: dict[tuple[int, int], dict[int, Fraction]] = {}
    ends = fabric.endpoints.tolist()
    for i, s in enumerate(ends):
        for j, d in enumerate(ends):
            used: dict[int, Fraction] = {}
            choice = offsets(i, j)
            for o in choice if i != j else []:
                for slot in walk(fabric, tables, s, d, int(fabric.ports.lid[d]) + o) or []:
                    used[slot] = used.get(slot, Fraction(0)) + Fraction(1, len(choice))
            result[i, j] = used
    return result


def worst_of(loads: dict[tuple[int, int], dict[int, Fraction]], count: int, speed: dict[int, Fraction]) -> Fraction:
    """The largest load of any permutation, by trying them all."""
    best = Fraction(0)
    for image in permutations(range(count)):
        total: dict[int, Fraction] = {}
        for i, j in enumerate(image):
            for slot, amount in loads[i, j].items():
                total[slot] = total.get(slot, Fraction(0)) + amount
        best = max([best, *(amount / speed[slot] for slot, amount in total.items())])
    return best


def climbing(tree: Any, fabric: Fabric, share: float, seed: int = 0) -> Tables:
    """D-mod-k on a generated fat tree; switches send a share of what goes up by a port drawn at random."""
    rng = np.random.default_rng(seed)
    host = np.arange(tree.below[-1])
    out = np.full((len(fabric.switches), int(fabric.ports.lid.max()) + 1), 255, np.uint8)
    place = 1
    for level in range(1, tree.levels + 1):
        parents = tree.parents[level] if level < tree.levels else 1
        for at in range(tree.first_node[level], tree.first_node[level + 1]):
            sub = (at - tree.first_node[level]) // tree.width[level]
            down = host // tree.below[level - 1] % tree.children[level - 1]
            up = np.where(rng.random(len(host)) < share, rng.integers(parents, size=len(host)), host // place % parents)
            port = np.where(host // tree.below[level] == sub, down, tree.children[level - 1] + up)
            out[at - tree.first_node[1], fabric.ports.lid[fabric.endpoints]] = 1 + port
        place *= parents
    return Tables("climbing", fabric.switches, out, np.zeros(len(out), np.int32), "opensm")


def with_nodes(fabric: Fabric, **columns: Any) -> Fabric:
    """The fabric with other values in some columns of its nodes."""
    return replace(fabric, nodes=replace(fabric.nodes, **columns))
