"""The blocks of an odd mesh: a small network whose least worst case is no larger than that of the mesh.

In a mesh of radix k = 2h + 1 each coordinate is left of the middle, in it, or right of it: h, 1 and h values. Nodes
whose coordinates are of the same kinds form a block. The network of blocks has a node for each, which sends and takes
as much as all its nodes together, and channels of the bandwidth of all links between two blocks. Packets that move
freely within blocks can follow any routing of the mesh, averaged over the pairs of two blocks: traffic between blocks
is then traffic of the mesh, spread evenly over the pairs, and a channel between blocks has the mean load of its links.
"""

from __future__ import annotations

from itertools import product
from math import prod

import obliv

__all__ = ["blocks"]


def blocks(k: int, dimensions: int = 2) -> obliv.Topology:
    """Return the network of blocks of a mesh of odd radix k, whose least worst case is no larger than the mesh's.

    Examples
    --------
    >>> blocks(5).nodes, blocks(5).rates()[0] == (4, 2, 4, 2, 1, 2, 4, 2, 4)
    (9, True)
    >>> obliv.design(blocks(5), then=None).channel_load  # doctest: +SKIP
    Fraction(11, 5)
    """
    if k < 3 or k % 2 == 0:
        raise obliv.InputError(f"a radix of {k}: the blocks are those of meshes of odd radix 3 and more")
    width = (k // 2, 1, k // 2)
    places = list(product(range(3), repeat=dimensions))
    links, bandwidth = [], []
    for node, place in enumerate(places):
        for d in range(dimensions):
            if place[d] < 2:
                other = places.index((*place[:d], place[d] + 1, *place[d + 1 :]))
                links += [(node, other), (other, node)]
                bandwidth += [prod(width[kind] for e, kind in enumerate(place) if e != d)] * 2
    rates = [prod(width[kind] for kind in place) for place in places]
    maps = [[places.index((2 - place[0], *place[1:])) for place in places]]  # reflection of one coordinate
    for d in range(dimensions - 1):  # exchange of two
        maps.append([places.index((*p[:d], p[d + 1], p[d], *p[d + 2 :])) for p in places])
    spec = f"blocks of {'x'.join([str(k)] * dimensions)}"
    network = obliv.build(spec, len(places), links, bandwidth=bandwidth, generators=tuple(map(tuple, maps)))
    return network.with_rates(rates, rates)
