"""Group tables at random, and what packets can do by them, path by path in plain Python: an oracle for the kernels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from obliv.fabric.model import Fabric
from obliv.fabric.names import NO_STATE, STATES, GroupTables, SubGroup, ports_of

Path = tuple[int, ...]  # slots


def closer_ports(fabric: Fabric, owner: int) -> dict[int, list[int]]:
    """For every switch the ports that lead closer to a node, over cables between switches."""
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
    closer: dict[int, list[int]] = {}
    for v in fabric.switches.tolist():
        first = int(fabric.first_slot[v])
        cabled = [p for p in range(1, int(fabric.first_slot[v + 1]) - first) if fabric.ports.peer[first + p] >= 0]
        closer[v] = [
            p for p in cabled if far.get(int(fabric.node_of[fabric.ports.peer[first + p]]), 99) < far.get(v, 99)
        ]
    return closer


def random_groups(fabric: Fabric, seed: int, damage: int = 0) -> GroupTables:
    """Some ports that lead closer, in one sub-group or two, of any state; some entries then replaced by anything."""
    rng = np.random.default_rng(seed)
    switches = fabric.switches.tolist()
    top = int((fabric.ports.lid + (1 << fabric.ports.lmc.astype(int))).max())
    shape = len(switches), top
    port, state = np.full(shape, 255, np.uint8), np.full(shape, NO_STATE, np.uint8)
    group = np.zeros(shape, np.uint16)
    groups: list[dict[int, tuple[SubGroup, ...]]] = [{} for _ in switches]
    for slot in np.flatnonzero(fabric.ports.lid > 0).tolist():
        owner = int(fabric.node_of[slot])
        if owner in switches:
            continue
        closer = closer_ports(fabric, owner)
        for lid in range(int(fabric.ports.lid[slot]), int(fabric.ports.lid[slot]) + (1 << int(fabric.ports.lmc[slot]))):
            for row, v in enumerate(switches):
                if not closer[v]:
                    continue
                some = sorted(rng.choice(closer[v], int(rng.integers(1, len(closer[v]) + 1)), replace=False).tolist())
                cut = int(rng.integers(len(some) + 1))
                number = len(groups[row]) + 1
                groups[row][number] = (SubGroup(0, 0, tuple(some[:cut])), SubGroup(1, 0, tuple(some[cut:])))
                group[row, lid], state[row, lid] = number, rng.integers(len(STATES))
                port[row, lid] = rng.choice(some)
    for _ in range(damage):
        row, lid = int(rng.integers(len(switches))), int(rng.integers(1, top))
        what = int(rng.integers(5))
        if what == 0:
            state[row, lid] = NO_STATE
        elif what == 1:
            port[row, lid], state[row, lid] = rng.choice([0, 1, 2, 9, 255]), rng.integers(len(STATES))
        elif what == 2:
            group[row, lid] = rng.integers(30)
        else:
            number = len(groups[row]) + 1
            groups[row][number] = (SubGroup(0, 0, tuple(set(rng.integers(0, 9, 2).tolist()))),)
            group[row, lid], state[row, lid] = number, rng.integers(len(STATES))
    return GroupTables(
        f"random {seed}",
        fabric.switches.astype(np.int32),
        np.zeros(len(switches), np.int32),
        port,
        state,
        group,
        tuple(groups),
        np.zeros(len(switches), np.int32),
    )


def choices_at(groups: GroupTables, node: int, lid: int) -> tuple[int, ...]:
    """The ports among which a switch may choose."""
    rows = np.flatnonzero(groups.switch == node).tolist()
    if not rows or lid >= groups.state.shape[1] or groups.state[rows[0], lid] == NO_STATE:
        return ()
    if STATES[groups.state[rows[0], lid]] == "Static":
        return () if groups.port[rows[0], lid] == 255 else (int(groups.port[rows[0], lid]),)
    return ports_of(groups.groups[rows[0]].get(int(groups.group[rows[0], lid]), ()))


def ways(fabric: Fabric, groups: GroupTables, source: int, destination: int, lid: int) -> dict[Path, Fraction] | None:
    """Every path from a port to another with its chance under even splits; None if some choice does not get there."""
    found: dict[Path, Fraction] = {}
    trail: list[tuple[Path, Fraction, frozenset[int]]] = [((source,), Fraction(1), frozenset())]
    while trail:
        path, chance, seen = trail.pop()
        ahead = int(fabric.ports.peer[path[-1]])
        v = int(fabric.node_of[ahead])
        if ahead >= 0 and ahead == destination:
            found[path] = chance
            continue
        if ahead < 0 or fabric.nodes.kind[v] != "switch" or v in seen or lid <= 0:
            return None
        ports = choices_at(groups, v, lid)
        if not ports:
            return None
        for port in ports:
            slot = fabric.slot(v, port)
            if port == 0 or slot < 0:
                return None
            trail.append(((*path, slot), chance / len(ports), seen | {v}))
    return found


Loads = dict[tuple[int, int], dict[int, Fraction]]


def loads_by_choices(
    fabric: Fabric, groups: GroupTables, offsets: Callable[[int, int], list[int]], any_choice: bool
) -> Loads:
    """What a unit from each endpoint to each puts on every slot; ``offsets(i, j)`` lists the LIDs it uses."""
    result: Loads = {}
    ends = fabric.endpoints.tolist()
    for i, s in enumerate(ends):
        for j, d in enumerate(ends):
            used: dict[int, Fraction] = {}
            choice = offsets(i, j) if i != j else []
            for offset in choice:
                paths = ways(fabric, groups, s, d, int(fabric.ports.lid[d]) + offset) or {}
                crossed: dict[int, Fraction] = {}
                for path, chance in paths.items():
                    for slot in path:
                        crossed[slot] = Fraction(1) if any_choice else crossed.get(slot, Fraction(0)) + chance
                for slot, amount in crossed.items():
                    used[slot] = used.get(slot, Fraction(0)) + amount / len(choice)
            result[i, j] = used
    return result
