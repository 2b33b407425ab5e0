"""Rail-optimized fat trees: the i-th adapters of all nodes of a GPU cluster meet at the switches of rail i."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array, NodeArray
from obliv.errors import TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology, require_network
from obliv.topologies.checks import integers
from obliv.topologies.make import build

__all__ = ["rail"]


@register_topology("rail", example="rail:rails=4,nodes=8,leaf=4,spines=2")
def rail(rails: int, nodes: int, leaf: int, spines: int, links: int = 1) -> Topology:
    """Rail-optimized fat tree: `nodes` nodes with `rails` adapters, a rail has leaf switches of its own.

    Parameters
    ----------
    rails : int
        Adapters of a node, one a GPU. All i-th adapters are on the leaf switches of rail i.
    nodes : int
        Nodes of the cluster.
    leaf : int
        Nodes on a leaf switch; the last leaf switches may have fewer.
    spines : int
        Spine switches, each with cables to all leaf switches of all rails; 0: rails that are not joined, which fits on
        one leaf switch a rail only.
    links : int
        Parallel cables between a leaf and a spine switch. Leaf switches are oversubscribed leaf : spines · links.

    Returns
    -------
    Topology
        Adapters are the terminals: adapter i of node v is node rails·v + i, called ``node0 rail1``. Then come the leaf
        switches ``leaf(i,j)``, rail by rail, and the spine switches ``spine(k)``. At a leaf switch the channels to
        adapters come first. Capacity is not known in closed form.

    Raises
    ------
    TopologyError
        If a parameter is out of range, or the network is too large or falls apart.

    Notes
    -----
    What GPUs of one node send each other inside the node is not part of the network.

    Examples
    --------
    >>> rail(4, 8, 4, 2)
    <Topology rail:rails=4,nodes=8,leaf=4,spines=2: 42 nodes, 96 channels, 32 terminals>
    """
    rails, nodes, leaf, spines, links = integers(
        "rail", rails=rails, nodes=nodes, leaf=leaf, spines=spines, links=links
    )
    spec = f"rail:rails={rails},nodes={nodes},leaf={leaf},spines={spines}" + f",links={links}" * (links != 1)
    if min(rails, nodes, leaf, links) < 1 or spines < 0:
        raise TopologyError(f"{spec}: every number must be at least 1")
    per_rail = -(-nodes // leaf)
    if not spines and rails * per_rail > 1:
        raise TopologyError(
            f"{spec}: {rails * per_rail} leaf switches without spines are not joined: write spines=1 or more"
        )
    hosts, leaves = rails * nodes, rails * per_rail
    require_network(hosts + leaves + spines, 2 * (hosts + leaves * spines * links), spec)
    host = np.arange(hosts)
    node, at = np.divmod(host, rails)
    above = hosts + at * per_rail + node // leaf
    down = np.column_stack([above, host])
    low = hosts + np.repeat(np.arange(leaves), spines * links)
    high = hosts + leaves + np.tile(np.repeat(np.arange(spines), links), leaves)
    up = np.column_stack([low, high])
    return build(
        spec,
        hosts + leaves + spines,
        np.concatenate([down, down[:, ::-1], up, up[:, ::-1]]),
        terminals=range(hosts),
        labels=(
            *(f"node{v} rail{i}" for v in range(nodes) for i in range(rails)),
            *(f"leaf({i},{j})" for i in range(rails) for j in range(per_rail)),
            *(f"spine({k})" for k in range(spines)),
        ),
        positions=_rows(
            at * (nodes + 1) + node,
            (np.arange(leaves) // per_rail * (nodes + 1)) + (np.arange(leaves) % per_rail + 0.5) * leaf - 0.5,
            (np.arange(spines) + 0.5) * (rails * (nodes + 1) - 1) / max(spines, 1) - 0.5,
        ),
        generators=_maps(rails, nodes, leaf, spines),
    )


def _rows(*across: Array) -> Array:
    """Return places of nodes in rows, the first at the bottom."""
    height = max(len(row) for row in across) / 6
    return np.concatenate([np.column_stack([row, np.full(len(row), k * height)]) for k, row in enumerate(across)])


def _maps(rails: int, nodes: int, leaf: int, spines: int) -> tuple[NodeArray, ...]:
    """Return maps: one rail on, one spine on, and, if all leaf switches are full, one node or one leaf switch on."""
    per_rail = -(-nodes // leaf)
    v, i = np.divmod(np.arange(rails * nodes), rails)
    rail_of, j = np.divmod(np.arange(rails * per_rail), per_rail)
    k = np.arange(spines)

    def moved(node: Array, rail_: Array, leaf_rail: Array, number: Array, spine: Array) -> NodeArray:
        hosts, leaves = rails * nodes, rails * per_rail
        parts = node * rails + rail_, hosts + leaf_rail * per_rail + number, hosts + leaves + spine
        together: NodeArray = np.concatenate(parts).astype(np.int32)
        return together

    maps = [moved(v, (i + 1) % rails, (rail_of + 1) % rails, j, k)]
    if spines > 1:
        maps.append(moved(v, i, rail_of, j, (k + 1) % spines))
    if nodes % leaf == 0:
        maps.append(moved(v // leaf * leaf + (v + 1) % leaf, i, rail_of, j, k))
        maps.append(moved((v + leaf) % nodes, i, rail_of, (j + 1) % per_rail, k))
    return tuple(g for g in maps if (g != np.arange(len(g))).any())
