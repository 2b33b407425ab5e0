"""Megafly (dragonfly+): groups of leaf and spine routers, with global links between the spines of every two groups."""

from __future__ import annotations

import numpy as np

from obliv._util.text import did_you_mean
from obliv._util.typing import FloatArray, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.families.dragonfly import ARRANGEMENTS, global_links, towards_groups
from obliv.topologies.make import build

__all__ = ["megafly"]


@register_topology("megafly", example="megafly:p=2,leaves=2,spines=2,h=2")
def megafly(p: int, leaves: int, spines: int, h: int, g: int | None = None, arrangement: str = "absolute") -> Topology:
    """Megafly or dragonfly+: `g` groups of leaf routers with hosts and spine routers with global links.

    Parameters
    ----------
    p : int
        Hosts on every leaf router.
    leaves, spines : int
        Leaf and spine routers of a group; every leaf router has a link to every spine router of its group.
    h : int
        Global ports of every spine router.
    g : int, optional
        Groups, 2 to spines·h + 1; default spines·h + 1, where every two groups share one global link.
    arrangement : {"absolute", "relative", "palm-tree", "circulant"}
        As for :func:`obliv.dragonfly`.

    Returns
    -------
    Topology
        Hosts come first and are the terminals: host j of leaf router ``(i,l)`` is called ``(i,l).j``. Then come the
        leaf routers, group by group, and the spine routers ``[i,s]``. At a spine router local channels come first, then
        global ones. Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a parameter is out of range, the arrangement is unknown, or the network is too large.

    References
    ----------
    [FBP18] M. Flajslik, E. Borch, M. A. Parker, "Megafly: a topology for exascale systems", ISC 2018.

    [Shp17] A. Shpiner et al., "Dragonfly+: low cost topology for scaling datacenters", HiPINEB 2017.

    Examples
    --------
    >>> megafly(2, 2, 2, 2)
    <Topology megafly:p=2,leaves=2,spines=2,h=2: 40 nodes, 100 channels, 20 terminals>
    """
    p, leaves, spines, h = integers("megafly", p=p, leaves=leaves, spines=spines, h=h)
    full = spines * h + 1
    (groups,) = integers("megafly", g=full if g is None else g)
    spec = f"megafly:p={p},leaves={leaves},spines={spines},h={h}" + f",g={groups}" * (groups != full)
    spec += f",arrangement={arrangement}" * (arrangement != "absolute")
    if arrangement not in ARRANGEMENTS:
        raise TopologyError(f"{spec}: unknown arrangement {arrangement!r}: {did_you_mean(arrangement, ARRANGEMENTS)}")
    if min(p, leaves, spines, h) < 1:
        raise TopologyError(f"{spec}: needs p, leaves, spines and h of at least 1")
    if not 2 <= groups <= full:
        raise TopologyError(f"{spec}: with {spines}·{h} global ports per group, g can be 2 to {full}")
    rounds, unused = divmod(spines * h, groups - 1)
    lower, hosts = groups * leaves, groups * leaves * p
    nodes = hosts + lower + groups * spines
    require_network(nodes, 2 * (hosts + lower * spines) + groups * (groups - 1) * rounds, spec)
    host = np.arange(hosts)
    at_hosts = np.column_stack([hosts + host // p, host])
    leaf = np.repeat(np.arange(lower), spines)
    spine = leaf // leaves * spines + np.tile(np.arange(spines), lower)
    local = np.column_stack([hosts + leaf, hosts + lower + spine])
    far = hosts + lower + global_links(towards_groups(groups, arrangement), rounds, spines, h)
    places = [(i, x) for i in range(groups) for x in range(leaves)]
    return build(
        spec,
        nodes,
        np.concatenate([local, local[:, ::-1], far, at_hosts, at_hosts[:, ::-1]]),
        terminals=range(hosts),
        labels=(
            *(f"({i},{x}).{j}" for i, x in places for j in range(p)),
            *(f"({i},{x})" for i, x in places),
            *(f"[{i},{x}]" for i in range(groups) for x in range(spines)),
        ),
        positions=_rows(groups, leaves * p, leaves, spines),
        generators=_maps(groups, p, leaves, spines, arrangement),
        notes=(f"{unused} of the {spines * h} global ports of every group stay unused",) * bool(unused),
    )


def _rows(groups: int, *sizes: int) -> FloatArray:
    """Return places in rows, the first at the bottom, with the nodes of a group above each other."""
    wide, height = max(sizes) + 1, groups * max(sizes) / 6
    rows = []
    for level, size in enumerate(sizes):
        group, place = np.divmod(np.arange(groups * size), size)
        rows.append(np.column_stack([(group + (place + 0.5) / size) * wide, np.full(len(group), level * height)]))
    return np.concatenate(rows)


def _maps(groups: int, p: int, leaves: int, spines: int, arrangement: str) -> tuple[NodeArray, ...]:
    """Return maps: one host on at every leaf router, one leaf router on in every group, and often one group on."""
    lower, hosts = groups * leaves, groups * leaves * p
    i, x, j = (part.ravel() for part in np.indices((groups, leaves, p)))
    group, leaf = np.divmod(np.arange(lower), leaves)
    high, spine = np.divmod(np.arange(groups * spines), spines)

    def moved(turn: int, step: int, next_host: int) -> NodeArray:
        to_host = ((i + turn) % groups * leaves + (x + step) % leaves) * p + (j + next_host) % p
        to_leaf = hosts + (group + turn) % groups * leaves + (leaf + step) % leaves
        to_spine = hosts + lower + (high + turn) % groups * spines + spine
        together: NodeArray = np.concatenate([to_host, to_leaf, to_spine]).astype(np.int32)
        return together

    maps = [moved(0, 0, 1), moved(0, 1, 0)]
    if arrangement != "absolute":
        maps.append(moved(1, 0, 0))
    return tuple(g for g in maps if (g != np.arange(len(g))).any())
