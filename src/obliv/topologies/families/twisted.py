"""Twisted tori: tori whose wrap-around links of one dimension lead to a shifted place."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.make import build

__all__ = ["twisted_torus"]


@register_topology("twisted-torus", example="twisted-torus:8x4,twist=4")
def twisted_torus(*radices: int, twist: int) -> Topology:
    """Twisted torus of two dimensions: going once round in y moves a packet by `twist` in x.

    Parameters
    ----------
    *radices : int
        kx and ky, each at least 2.
    twist : int
        Shift in x of the wrap-around links of y, 0 to kx - 1. With kx = 2·ky and twist = ky the network is symmetric in
        its two dimensions, unlike the torus.

    Returns
    -------
    Topology
        Node x + kx·y is at (x, y). Its channels lead to x + 1, x - 1, y + 1 and y - 1; that from y = ky - 1 up leads to
        (x + twist, 0). Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a radix or the twist is out of range, or the network is too large.

    References
    ----------
    [Cam10] J. M. Cámara, M. Moretó, E. Vallejo, R. Beivide et al., "Twisted torus topologies for enhanced
    interconnection networks", IEEE TPDS 21 (12), 2010.

    Examples
    --------
    >>> twisted_torus(8, 4, twist=4)
    <Topology twisted-torus:8x4,twist=4: 32 nodes, 128 channels, 32 terminals>
    """
    (twist,), radices = integers("twisted-torus", twist=twist), integers("twisted-torus", *radices)
    spec = f"twisted-torus:{'x'.join(map(str, radices))},twist={twist}"
    if len(radices) != 2 or min(radices) < 2:
        raise TopologyError(f"{spec}: two radices of at least 2 are needed, as in twisted-torus:8x4,twist=4")
    kx, ky = radices
    if not 0 <= twist < kx:
        raise TopologyError(f"{spec}: the twist is out of range; it is 0 to {kx - 1}")
    n = kx * ky
    require_network(n, 4 * n, spec)
    node = np.arange(n)
    y, x = np.divmod(node, kx)

    def at(x: NodeArray, y: NodeArray) -> NodeArray:
        """Return the node that a packet at x, y has reached, y from -1 to ky."""
        turns = y // ky
        place: NodeArray = (x + twist * turns) % kx + kx * (y - ky * turns)
        return place

    heads = np.column_stack([at(x + 1, y), at(x - 1, y), at(x, y + 1), at(x, y - 1)])
    steps = tuple(at(x + dx, y + dy).astype(np.int32) for dx, dy in ((1, 0), (0, 1)))
    return build(
        spec,
        n,
        np.column_stack([np.repeat(node, 4), heads.ravel()]),
        positions=np.column_stack([x, y]).astype(float),
        generators=(*steps, at(-x, -y).astype(np.int32)),
    )
