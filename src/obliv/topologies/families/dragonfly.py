"""Dragonflies: groups of routers, fully joined inside a group, with links between every two groups."""

from __future__ import annotations

import numpy as np

from obliv._util.text import did_you_mean
from obliv._util.typing import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.families.concentrated import circles, fan, with_hosts

__all__ = ["ARRANGEMENTS", "dragonfly", "global_links", "towards_groups"]


ARRANGEMENTS = ("absolute", "relative", "palm-tree", "circulant")


@register_topology("dragonfly", example="dragonfly:p=2,a=4,h=2")
def dragonfly(p: int, a: int, h: int, g: int | None = None, arrangement: str = "absolute") -> Topology:
    """Dragonfly of `g` groups of `a` routers, each with `p` hosts and `h` global links.

    Parameters
    ----------
    p : int
        Hosts on every router; 0 makes the routers the terminals.
    a : int
        Routers of a group, all joined to each other by local links.
    h : int
        Global ports of every router. A balanced dragonfly has a = 2·p = 2·h.
    g : int, optional
        Groups, 2 to a·h + 1; default a·h + 1, where every two groups share one global link.
    arrangement : {"absolute", "relative", "palm-tree", "circulant"}
        Which group each of the a·h global ports of group i leads to, port k belonging to router ⌊k/h⌋: 0, 1, 2 ...
        without i (absolute); i + 1, i + 2 ... (relative); i - 1, i - 2 ... (palm-tree, the same mirrored); i + 1,
        i - 1, i + 2, i - 2 ... (circulant), all modulo g. The two ports of a pair of groups are joined.

    Returns
    -------
    Topology
        Host j of router r is node p·r + j, after all hosts come the routers; router r is the one number r mod a of
        group ⌊r/a⌋. They are called ``(group,router).j`` and ``(group,router)``. At a router local channels come
        first, then global ones by their ports, then hosts. With fewer groups than a·h + 1 the ports go round the
        other groups again as often as all of them can be served; the ports that are left stay unused.

    Raises
    ------
    TopologyError
        If a parameter is out of range, the arrangement is unknown, or the network is too large.

    Notes
    -----
    Routers are at most 3 channels apart. The "minimal routing" of dragonflies, local - global - local by the link that
    joins the two groups, is not always a shortest path: two global links in a row can be shorter, hence ``shortest``
    and ``ecmp`` are other routings.

    References
    ----------
    [KDSA08] J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.

    [Has15] E. Hastings et al., "Comparing global link arrangements for dragonfly networks", IEEE Cluster 2015.

    [CVB14] C. Camarero, E. Vallejo, R. Beivide, "Topological characterization of Hamming and dragonfly networks and its
    implications on routing", ACM TACO 11 (4), 2014.

    Examples
    --------
    >>> dragonfly(2, 4, 2)
    <Topology dragonfly:p=2,a=4,h=2: 108 nodes, 324 channels, 72 terminals>
    """
    p, a, h = integers("dragonfly", p=p, a=a, h=h)
    full = a * h + 1
    (groups,) = integers("dragonfly", g=full if g is None else g)
    spec = f"dragonfly:p={p},a={a},h={h}" + f",g={groups}" * (groups != full)
    spec += f",arrangement={arrangement}" * (arrangement != "absolute")
    if arrangement not in ARRANGEMENTS:
        raise TopologyError(f"{spec}: unknown arrangement {arrangement!r}: {did_you_mean(arrangement, ARRANGEMENTS)}")
    if p < 0 or a < 1 or h < 1:
        raise TopologyError(f"{spec}: needs p >= 0, a >= 1 and h >= 1")
    if not 2 <= groups <= full:
        raise TopologyError(f"{spec}: with {a}·{h} global ports per group, g can be 2 to {full}")
    rounds, unused = divmod(a * h, groups - 1)
    routers = groups * a
    channels = routers * (a - 1 + 2 * p) + groups * (groups - 1) * rounds
    require_network(routers * (p + 1), channels, spec)
    towards = towards_groups(groups, arrangement)
    places, angle = circles(groups, a)
    return with_hosts(
        spec,
        np.concatenate([_local(groups, a), global_links(towards, rounds, a, h)]),
        p,
        names=[f"({i},{j})" for i in range(groups) for j in range(a)],
        places=places,
        spots=fan(angle, p, 0.9),
        maps=_maps(groups, a, arrangement, _mirrors(arrangement, groups, h, unused)),
        notes=(
            f"{unused} of the {a * h} global ports of every group stay unused, {a * h - unused} serve the other "
            f"{groups - 1} groups equally",
        )
        * bool(unused),
    )


def _local(groups: int, a: int) -> Array:
    """Return the channels inside groups: from every router to all others, in their order."""
    one = np.repeat(np.arange(a), a - 1)
    other = np.tile(np.arange(a - 1), a)
    pairs = np.column_stack([one, other + (other >= one)])
    links: Array = (np.arange(groups)[:, None, None] * a + pairs).reshape(-1, 2)
    return links


def towards_groups(groups: int, arrangement: str) -> Array:
    """Return the group that each port of each group leads to in the first round, shape (groups, groups - 1)."""
    i, k = np.arange(groups)[:, None], np.arange(groups - 1)
    if arrangement == "absolute":
        return k + (k >= i)
    step = {"relative": k + 1, "palm-tree": -k - 1, "circulant": (k // 2 + 1) * (-1) ** (k % 2)}[arrangement]
    towards: Array = (i + step) % groups
    return towards


def global_links(towards: Array, rounds: int, a: int, h: int) -> Array:
    """Return the channels between groups, group by group and port by port."""
    groups = len(towards)
    i = np.arange(groups)[:, None]
    back = np.zeros((groups, groups), np.int64)  # the port of the first round by which one group leads to another
    back[i, towards] = np.arange(groups - 1)
    first = np.arange(rounds)[:, None] * (groups - 1)
    port = first + np.arange(groups - 1)
    tail = i[:, None] * a + port // h
    head = towards[:, None] * a + (first + back[towards, i][:, None]) // h
    return np.column_stack([tail.ravel(), head.ravel()])


def _mirrors(arrangement: str, groups: int, h: int, unused: int) -> bool:
    """Return whether the order of groups can be reversed."""
    if arrangement == "circulant":  # ports change places in twos, which have to be of one router
        return h % 2 == 0 and groups % 2 == 1
    return not unused  # the order of ports is reversed along with it


def _maps(groups: int, a: int, arrangement: str, mirrors: bool) -> list[NodeArray]:
    group, router = np.divmod(np.arange(groups * a), a)
    maps = []
    if arrangement != "absolute":
        maps.append((group + 1) % groups * a + router)
    if mirrors:
        other = router if arrangement == "circulant" else a - 1 - router
        turned = groups - 1 - group if arrangement == "absolute" else -group % groups
        maps.append(turned * a + other)
    return [node_map.astype(np.int32) for node_map in maps]
