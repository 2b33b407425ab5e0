"""Dragonflies: groups of routers, all joined in a group and every two groups joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import TopologyError, did_you_mean
from obliv.specs import topologies
from obliv.topology.concentrated import fan, with_hosts
from obliv.topology.topology import IntArray, Topology, require_network

__all__ = ["dragonfly"]

Array = npt.NDArray[Any]

_ARRANGEMENTS = ("absolute", "relative", "palm-tree", "circulant")


@topologies("dragonfly", example="dragonfly:p=2,a=4,h=2")
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
        Host j of router r is node p·r + j, behind all hosts come the routers; router r is the one number r mod a of
        group ⌊r/a⌋. They are called ``(group,router).j`` and ``(group,router)``. At a router local channels come
        first, then global ones by their ports, then hosts. With fewer groups than a·h + 1 the ports go round the
        other groups again as often as all of them can be served; the ports that are left stay unused.

    Notes
    -----
    Routers are at most 3 channels apart. The "minimal routing" of dragonflies, local - global - local by the link that
    joins the two groups, is not always a shortest way: two global links in a row can be shorter, hence ``shortest``
    and ``ecmp`` are other routings.

    References
    ----------
    J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.

    E. Hastings et al., "Comparing global link arrangements for dragonfly networks", IEEE Cluster 2015.

    C. Camarero, E. Vallejo, R. Beivide, "Topological characterization of Hamming and dragonfly networks and its
    implications on routing", ACM TACO 11 (4), 2014.

    Examples
    --------
    >>> dragonfly(2, 4, 2)
    <Topology dragonfly:p=2,a=4,h=2: 108 nodes, 396 channels, 72 terminals>
    """
    full = a * h + 1
    groups = full if g is None else g
    spec = f"dragonfly:p={p},a={a},h={h}" + f",g={groups}" * (groups != full)
    spec += f",arrangement={arrangement}" * (arrangement != "absolute")
    if arrangement not in _ARRANGEMENTS:
        raise TopologyError(f"{spec}: unknown arrangement {arrangement!r}: {did_you_mean(arrangement, _ARRANGEMENTS)}")
    if p < 0 or a < 1 or h < 1:
        raise TopologyError(f"{spec}: needs p >= 0, a >= 1 and h >= 1")
    if not 2 <= groups <= full:
        raise TopologyError(f"{spec}: {a}·{h} global ports a group join 2 to {full} groups; choose g among these")
    rounds, unused = divmod(a * h, groups - 1)
    routers = groups * a
    channels = routers * (a - 1 + 2 * p) + groups * (groups - 1) * rounds
    require_network(routers * (p + 1), channels, spec)
    ports = rounds * (groups - 1)
    middle, round_it, places, angle = _drawn(groups, a, p)
    return with_hosts(
        spec,
        np.concatenate([_local(groups, a), _global(_towards(groups, arrangement), rounds, a, h)]),
        p,
        names=[f"({i},{j})" for i in range(groups) for j in range(a)],
        places=places,
        spots=fan(angle, p, 0.9),
        maps=_maps(groups, a, h, arrangement, unused),
        notes=(f"{unused} of the {a * h} global ports of every group are unused: {ports} serve all groups alike",)
        if unused
        else (),
    )
