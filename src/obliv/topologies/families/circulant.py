"""Circulants: rings with chords that look the same from every node."""

from __future__ import annotations

from math import gcd

import numpy as np

from obliv._util.typing import NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.make import build

__all__ = ["circulant"]


@register_topology("circulant", example="circulant:16,1x4")
def circulant(n: int, *jumps: int) -> Topology:
    """Circulant: a channel from every node v to v + s and v - s, modulo `n`, for each jump s.

    Parameters
    ----------
    n : int
        Nodes, numbered round the ring.
    *jumps : int
        Different jumps from 1 to n/2. The jump n/2 gives one channel instead of two; 1 and n/2 make a Spidergon.

    Returns
    -------
    Topology
        At a node channels are in the order of the jumps, the one up before the one down.

    Raises
    ------
    TopologyError
        If a jump is out of range or appears twice, or the network is disconnected.

    References
    ----------
    [Cop04] M. Coppola et al., "Spidergon: a novel on-chip communication network", International Symposium on
    System-on-Chip, 2004.

    Examples
    --------
    >>> circulant(16, 1, 4)
    <Topology circulant:16,1x4: 16 nodes, 64 channels, 16 terminals>
    """
    (n,), jumps = integers("circulant", n=n), integers("circulant", *jumps)
    spec = f"circulant:{n}" + "," * bool(jumps) + "x".join(map(str, jumps))
    if not jumps:
        raise TopologyError(f"{spec}: at least one jump is needed, as in circulant:16,1x4")
    for s in jumps:
        if not 1 <= s <= n // 2:
            raise TopologyError(f"{spec}: jump {s} is out of range; jumps are 1 to n/2, since s includes n - s")
    if len(set(jumps)) < len(jumps):
        raise TopologyError(f"{spec}: a jump appears twice")
    common = gcd(n, *jumps)
    if common > 1:
        raise TopologyError(f"{spec}: {common} divides n and all jumps, so the network is disconnected; add the jump 1")
    steps = [step for s in jumps for step in ((s, -s) if 2 * s < n else (s,))]
    require_network(n, n * len(steps), spec)
    node = np.arange(n)
    heads = (node[:, None] + steps) % n
    turn = 2 * np.pi * node / n
    up: NodeArray = ((node + 1) % n).astype(np.int32)
    return build(
        spec,
        n,
        np.column_stack([np.repeat(node, len(steps)), heads.ravel()]),
        positions=np.column_stack([np.sin(turn), np.cos(turn)]),
        generators=(up, *((node * by % n).astype(np.int32) for by in _multipliers(n, jumps))),
        translations=(up,),
    )


def _multipliers(n: int, jumps: tuple[int, ...]) -> list[int]:
    """Return factors that map the jumps onto themselves: -1, and those that map the first jump to another one."""
    known = {s % n for s in jumps} | {-s % n for s in jumps}
    factors = [n - 1] if n > 2 else []
    if gcd(jumps[0], n) == 1:
        for s in jumps[1:]:
            by = s * pow(jumps[0], -1, n) % n
            if gcd(by, n) == 1 and {by * jump % n for jump in known} == known:
                factors.append(by)
    return factors
