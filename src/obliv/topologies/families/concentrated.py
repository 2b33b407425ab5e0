"""Hosts on routers, and the mesh with hosts on every router."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from obliv._util.typing import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.cartesian import coordinate
from obliv.topologies.checks import integers
from obliv.topologies.families.grids import mesh
from obliv.topologies.make import build

__all__ = ["circles", "cmesh", "fan", "with_hosts"]


@register_topology("cmesh", aliases=("concentrated-mesh",), example="cmesh:4x4,c=4")
def cmesh(*radices: int, c: int) -> Topology:
    """Concentrated mesh: routers in a mesh, `c` hosts on each.

    Parameters
    ----------
    *radices : int
        Routers per dimension, x first, each at least 2.
    c : int
        Hosts on every router, at least 1.

    Returns
    -------
    Topology
        Hosts are the terminals. Host j of router r is node c·r + j, after all hosts come the routers, numbered as
        in :func:`mesh`; they are called ``(x,y).j`` and ``(x,y)``. A host and its router have a channel each way. At
        a router the channels of the mesh come first, x before y, hence ``shortest`` goes by dimension order.
        Capacity (exact, as a load): c times that of the mesh, but at least 1 - 1/N for N hosts, the channel of a host.

    Raises
    ------
    TopologyError
        If a radix or the number of hosts is out of range, or the network is too large.

    References
    ----------
    [BD06] J. Balfour and W. J. Dally, "Design tradeoffs for tiled CMP on-chip networks", ICS 2006.

    Examples
    --------
    >>> cmesh(4, 4, c=4)
    <Topology cmesh:4x4,c=4: 80 nodes, 176 channels, 64 terminals>
    >>> cmesh(4, 4, c=4).name_of(27)
    '(2,1).3'
    """
    (c,) = integers("cmesh", c=c)
    text = "x".join(map(str, radices))
    spec = f"cmesh:{text},c={c}"
    if not radices or min(radices) < 2:
        raise TopologyError(f"{spec}: every radix must be at least 2, as in cmesh:4x4,c=4")
    if c < 1:
        raise TopologyError(f"{spec}: a router needs at least 1 host; if routers are the terminals, use mesh:{text}")
    routers = prod(radices)
    require_network(routers * (c + 1), 2 * routers * (len(radices) + c), spec)
    base = mesh(*radices)
    return with_hosts(
        spec,
        np.column_stack([base.tail, base.head]),
        c,
        names=[f"({x})" if len(radices) == 1 else base.name_of(x) for x in range(routers)],
        places=2.4 * _aslant(np.asarray(base.positions), radices),
        spots=_between_the_links(c),
        maps=base.generators,
    )


def with_hosts(
    spec: str,
    links: Array,
    hosts: int,
    *,
    names: Sequence[str],
    places: Array,
    spots: Array,
    maps: Sequence[NodeArray],
    **more: Any,
) -> Topology:
    """Build a network of routers with hosts on each; if `hosts` is 0, the routers themselves are the terminals.

    Host j of router r is node hosts·r + j, called "R.j" if the router is "R"; router r is node hosts·routers + r.
    `links` between routers are in the order in which routers number their channels. `places` of routers have the shape
    (routers, 2), `spots` of hosts relative to their router (hosts, 2) or (routers, hosts, 2). Hosts move along with the
    automorphisms `maps` of the routers. `more` are further fields of :class:`Topology`.
    """
    routers = len(names)
    if not hosts:
        return build(spec, routers, links, labels=tuple(names), positions=places, generators=tuple(maps), **more)
    host = np.arange(routers * hosts)
    router = host // hosts + len(host)
    everything = [links + len(host), np.column_stack([router, host]), np.column_stack([host, router])]
    moved = [np.concatenate([(g[:, None] * hosts + np.arange(hosts)).ravel(), g + len(host)]) for g in maps]
    if hosts > 1:
        turned = host // hosts * hosts + (host + 1) % hosts  # one host further on every router at once
        moved.append(np.concatenate([turned, np.arange(len(host), len(host) + routers)]))
    return build(
        spec,
        len(host) + routers,
        np.concatenate(everything),
        terminals=range(len(host)),
        labels=(*(f"{name}.{j}" for name in names for j in range(hosts)), *names),
        positions=np.concatenate([(places[:, None] + spots).reshape(-1, 2), places]),
        generators=tuple(g.astype(np.int32) for g in moved),
        **more,
    )


def circles(groups: int, size: int) -> tuple[Array, Array]:
    """Return places of routers, each group on a circle on a large circle, and the angle at which each faces out."""
    small = 0.8 / np.sin(np.pi / size) if size > 1 else 0.0
    large = (small + 1.4) / np.sin(np.pi / groups)
    group, router = np.divmod(np.arange(groups * size), size)
    towards = np.pi / 2 - 2 * np.pi * group / groups
    angle = towards - 2 * np.pi * (router - (size - 1) / 2) / size
    places = large * np.column_stack([np.cos(towards), np.sin(towards)])
    return places + small * np.column_stack([np.cos(angle), np.sin(angle)]), angle


def fan(angle: Array, hosts: int, reach: float) -> Array:
    """Return places of the hosts of each router, in a fan that opens at `angle`; shape (routers, hosts, 2)."""
    aside = (np.arange(hosts) - (hosts - 1) / 2) * min(0.75, 2.6 / max(hosts, 1))
    at = angle[:, None] + aside
    return reach * np.stack([np.cos(at), np.sin(at)], axis=-1)


def _aslant(places: Array, radices: Sequence[int]) -> Array:
    """Return the places of a mesh, its tiles slightly shifted so that links between tiles miss other routers."""
    moved = places.copy()
    for dim in range(2, len(radices)):
        moved[:, 1 - dim % 2] += 0.4 * coordinate(radices, dim)
    return moved


def _between_the_links(c: int) -> Array:
    """Return places of `c` hosts round a router, in the four corners that the links of a mesh leave free."""
    corner, number = np.arange(c) % 4, np.arange(c) // 4
    together = (c - corner + 3) // 4  # in one corner
    angle = np.pi / 2 * (corner + (number + 1) / (together + 1))
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)
