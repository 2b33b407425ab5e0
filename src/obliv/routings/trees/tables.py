"""Routings on fat trees from tables: by switch and destination, or computed pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.rationals import integer
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.errors import RoutingError
from obliv.kernels import run
from obliv.routings.trees._kernels import least_weights
from obliv.routings.trees.base import TreeRouting, number_of
from obliv.routings.trees.digits import DModK, mixed
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["WSR", "TreeTable", "up_ports"]


_TIES = ("lowest", "random")
_MOST_WORK = 2 * 10**10  # hosts² times paths that WSR's own rule may take: half a minute


class TreeTable(TreeRouting):
    """A fat tree forwarded by destination: one up port for every switch and host, as forwarding tables give it.

    Parameters
    ----------
    topology : Tree
        Whose hosts have one link each.
    ports : sequence of integer arrays
        For each level from the leaves to below the roots the up ports, shape (switches of the level, hosts), numbered
        from 0; entries for hosts below a switch are not used.

    Examples
    --------
    >>> import numpy as np, obliv
    >>> tree = obliv.topology("fattree:4,2")
    >>> last = np.arange(8) % 2
    >>> table = TreeTable(tree, [np.tile(last, (4, 1))])  # every leaf by the destination's last digit: D-mod-k
    >>> int(obliv.ratio(table).ratio)
    2
    """

    def __init__(self, topology: Topology, ports: Sequence[Array], spec: str = "tree table") -> None:
        super().__init__(topology, spec)
        tree = self.topology
        if tree.parents[0] != 1:
            raise RoutingError(f"{spec} needs hosts with one link, those of {tree.spec} have {tree.parents[0]}")
        if len(ports) != tree.levels - 1:
            raise RoutingError(f"{spec}: {len(ports)} tables, {tree.spec} has {tree.levels - 1} levels below its roots")
        self.ports = [np.asarray(table) for table in ports]
        for level, table in enumerate(self.ports, 1):
            switches = tree.first_node[level + 1] - tree.first_node[level]
            shape = (switches, tree.below[-1])
            if table.shape != shape or not np.issubdtype(table.dtype, np.integer):
                raise RoutingError(f"{spec}: the table of level {level} must hold whole numbers in the shape {shape}")
            if table.min() < 0 or table.max() >= tree.parents[level]:
                raise RoutingError(f"{spec}: up ports of level {level} are 0 to {tree.parents[level] - 1}")

    @property
    def alike(self) -> int:
        return self.topology.children[0]

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        source, destination = np.broadcast_arrays(source, destination)
        at = np.zeros(source.shape, np.int64)
        ports = [at]
        for level, table in enumerate(self.ports, 1):
            ports.append(table[source // tree.below[level] * tree.width[level] + at, destination].astype(np.int64))
            at = at * tree.parents[level] + ports[-1]
        return number_of(tree, tree.turn(source, destination), ports)[..., None]


def up_ports(routing: TreeRouting) -> list[Array]:
    """Return the tables of a routing that is forwarded by switch and destination, as :class:`TreeTable` takes them.

    Parameters
    ----------
    routing : TreeRouting
        With one path per pair.

    Returns
    -------
    list of integer arrays, shape (switches of the level, hosts)
        The up port of every switch for every destination, for each level of switches but the roots.

    Raises
    ------
    RoutingError
        If what a switch does with a packet depends on its source.

    Examples
    --------
    >>> import obliv
    >>> ports = obliv.up_ports(obliv.DModK(obliv.fattree(4, 2)))
    >>> [table.shape for table in ports]
    [(4, 8)]
    """
    tree, n = routing.topology, routing.topology.below[-1]
    if routing.spread != 1:
        raise RoutingError(
            f"{routing.spec} has several paths per pair: no single up port for a switch and a destination"
        )
    if routing.by_number is not routing:
        raise RoutingError(
            f"{routing.spec} lists paths of its own, not by number: give ways(source, destination) instead"
        )
    host = np.arange(n)
    tables = []
    for level in range(1, tree.levels):
        switches = tree.first_node[level + 1] - tree.first_node[level]
        table: Array = np.full((switches, n), -1, np.int64)
        for source in range(n):
            turn = tree.turn(source, host)
            beyond = host[turn > level]
            number = routing.ways(np.array(source), beyond)[..., 0]
            width = np.array(tree.width)[turn[beyond]]
            at = number // (width // tree.width[level])
            port = number // (width // tree.width[level + 1]) % tree.parents[level]
            switch = source // tree.below[level] * tree.width[level] + at
            before = table[switch, beyond]
            if ((before >= 0) & (before != port)).any():
                raise RoutingError(f"{routing.spec}: what a switch does with a packet depends on its source")
            table[switch, beyond] = port
        tables.append(np.where(table >= 0, table, host % tree.parents[level]))  # free where no packet comes
    return tables


@register_routing("wsr", example="wsr")
class WSR(TreeRouting):
    """Widest shortest routing: assigns the pairs in order, each to the path with the least-used links so far.

    By its own rule: the least sum of the links' counts. The paper does not say which of equal paths is taken, and the
    ratio depends on it. With the lowest path number the rule comes to D-mod-k on FT(m, n) (the proof is in
    docs/explanation/fat-trees.md), which stands in where the rule would take too long; `notes` says so. On other trees
    the two can differ, and what would take too long is refused.

    Parameters
    ----------
    topology : Tree
    ties : {"lowest", "random"}
        Which of the paths with the least sum is taken: that of the lowest number, or one drawn by a hash of the pair.
    seed : int
        Of the hash.

    Raises
    ------
    RoutingError
        If the rule would take too long on a tree other than FT(m, n), or with random ties.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.WSR(obliv.fattree(4, 2))).ratio
    Fraction(2, 1)
    >>> tree = obliv.fattree(6, 3)
    >>> [int(obliv.ratio(obliv.WSR(tree, ties=ties)).ratio) for ties in ("lowest", "random")]
    [5, 9]
    >>> obliv.WSR(obliv.fattree(36, 3)).notes
    ('wsr: D-mod-k stands in on fattree:36,3, which gives the same paths (docs/explanation/fat-trees.md)',)
    """

    def __init__(self, topology: Topology, ties: str = "lowest", seed: int = 0, spec: str = "") -> None:
        seed = integer(seed, "wsr: seed")
        if ties not in _TIES:
            raise RoutingError(f"wsr: ties={ties} is unknown: {did_you_mean(ties, _TIES)}")
        if seed and ties != "random":
            raise RoutingError("wsr: seed is for ties=random; leave it out")
        options = "" if ties == "lowest" else f":ties={ties}" + f",seed={seed}" * bool(seed)
        super().__init__(topology, spec or f"wsr{options}")
        tree = self.topology
        work = tree.below[-1] ** 2 * tree.width[-1]
        self.ties, self.seed, self.own_rule = ties, seed, work <= _MOST_WORK
        if not self.own_rule and (tree.half is None or ties == "random"):
            raise RoutingError(
                f"{self.spec} chooses among up to {tree.width[-1]} paths for each of {tree.below[-1] ** 2} pairs of "
                f"{tree.spec}, one after another, which takes too long: take {'hash' if ties == 'random' else 'dmodk'}"
            )
        if not self.own_rule:
            proof = "docs/explanation/fat-trees.md"
            self.notes = (f"{self.spec}: D-mod-k stands in on {tree.spec}, which gives the same paths ({proof})",)

    @property
    def alike(self) -> int:
        return 1 if self.own_rule else self.topology.children[0]

    def ways(self, source: Array, destination: Array) -> Array:
        if self.own_rule:
            return np.asarray(self._table[source, destination][..., None].astype(np.int64))
        return DModK(self.topology).ways(source, destination)

    def classes(self) -> tuple[Array, Array]:
        return super().classes() if self.own_rule else DModK(self.topology).classes()

    @cached_property
    def _table(self) -> Array:
        tree, n = self.topology, self.topology.below[-1]
        require_memory((6.0 if self.ties == "lowest" else 30.0) * n * n, f"the paths of {self.spec} on {tree.spec}")
        table = np.zeros((n, n), np.int32)
        below, width = np.array(tree.below, np.int64), np.array(tree.width, np.int64)
        counts = np.zeros((2, tree.levels, max(map(tree.links, range(tree.levels)))), np.int32)
        draws = np.zeros((0, 0), np.int64)
        if self.ties == "random":
            hosts = np.arange(n)
            draws = (mixed(hosts[:, None], hosts, self.seed) >> np.uint64(33)).astype(np.int64)
        run(least_weights, 20.0 * n * n * tree.width[-1], below, width, counts, draws, table)
        return table
