"""Routings on fat trees: their base (paths by number), by digits or a hash, from tables, and by roots of two leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory
from obliv._util.rationals import integer
from obliv._util.text import did_you_mean
from obliv.errors import RoutingError
from obliv.kernels import kernel, run
from obliv.loads.base import PairLoads
from obliv.loads.tree import TreeLoads
from obliv.routings.base import Routing, require_topology
from obliv.routings.descriptions import Description
from obliv.routings.paths import Lengths, Path
from obliv.specs.registry import register_routing
from obliv.topologies.base import Instead, Topology, find
from obliv.topologies.trees import NumberedPaths, Tree


class TreeRouting(Routing):
    """Equally likely shortest paths of a fat tree.

    A subclass gives ``ways(source, destination)``: for arrays of hosts, which broadcast, the numbers of their paths in
    an array of shape (..., `spread`); a number may come several times.

    Parameters
    ----------
    topology : Tree
        With every host as a terminal.
    spec : str
        The spec that makes this routing again; where it is made from one, that one by default.

    Examples
    --------
    >>> import obliv
    >>> class FirstPath(obliv.TreeRouting):
    ...     '''Always path 0, by the lowest ports.'''
    ...     def ways(self, source, destination):
    ...         return 0 * (source + destination)[..., None]
    >>> obliv.ratio(FirstPath(obliv.fattree(8, 2), "first-path")).ratio
    Fraction(4, 1)
    """

    topology: Tree
    spread = 1
    _general = True

    def __init__(self, topology: Topology, spec: str = "") -> None:
        super().__init__(_require_tree(topology, spec or type(self).__name__), spec)

    def ways(self, source: Array, destination: Array) -> Array:
        """Path numbers of pairs of hosts, shape (..., spread)."""
        raise NotImplementedError(f"{type(self).__name__} must give ways(source, destination)")

    @property
    def alike(self) -> int:
        """How many sources, one after another from a multiple of this number, have the same path numbers."""
        return 1

    def classes(self) -> tuple[Array, Array]:
        """Class numbers of the hosts as sources and as destinations.

        The path numbers of a pair must depend only on the level of its turn and on these two. The fewer classes, the
        faster are worst cases of large trees. By default every host is a class of its own.
        """
        hosts = np.arange(self.topology.below[-1])
        return hosts // self.alike, hosts

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        tree = self.topology
        for host in (source, destination):
            if not 0 <= host < tree.below[-1]:
                raise RoutingError(f"{tree.spec} has no host {host}; hosts are nodes 0 to {tree.below[-1] - 1}")
        turn = int(tree.turn(source, destination))
        numbers, counts = np.unique(self.ways(np.array(source), np.array(destination)), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            yield way_channels(tree, source, destination, turn, number), Fraction(count, self.spread)

    def path_lengths(self, progress: Progress) -> Lengths:
        below = self.topology.below  # all paths are shortest: as many channels up as down
        counts = np.diff(below, prepend=0).tolist()  # of the destinations of a source, by the level of the turn
        return {2 * turn: Fraction(below[-1] * count) for turn, count in enumerate(counts) if count}

    def describe(self) -> tuple[Description, ...]:
        return (NumberedPaths(self.topology, self.ways, self.alike),) if self.spread == 1 else ()

    def _loads(self, progress: Progress) -> PairLoads:
        if not np.array_equal(self.topology.terminals, np.arange(self.topology.below[-1])):
            return super()._loads(progress)
        return TreeLoads(self.topology, self.ways, self.spread, self.alike, self.classes())


def single_path(routing: Routing) -> TreeRouting | None:
    """Return a routing of fat trees with one numbered path per pair; None for all others."""
    return routing if isinstance(routing, TreeRouting) and find(routing, NumberedPaths) is not None else None


def way_channels(tree: Tree, source: int, destination: int, turn: int, number: int) -> tuple[int, ...]:
    """Return the channels of the path of a number."""
    heights = range(turn)
    at = [number // (tree.width[turn] // tree.width[h + 1]) for h in heights]
    up = [tree.up_channel(h, source // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    down = [tree.down_channel(h, destination // tree.below[h] * tree.width[h + 1] + at[h]) for h in heights]
    return tuple(int(c) for c in (*up, *reversed(down)))


def number_of(tree: Tree, turn: Array, ports: list[Array]) -> Array:
    """Return the number of the path that leaves height h by port ``ports[h]``, as far as the turn."""
    number: Array = np.zeros((), np.int64)
    for h, port in enumerate(ports):
        number = number * tree.parents[h] + port
    number = np.array(np.broadcast_to(number, np.broadcast(turn, *ports).shape))
    turn = np.broadcast_to(turn, number.shape)
    lower = turn < len(ports)
    if lower.any():  # no choice is made at the turn or above
        number[lower] //= (tree.width[len(ports)] // np.array(tree.width))[turn[lower]]
    return number


def last_digits(tree: Tree, chooser: Array) -> list[Array]:
    """Return the ports that a host's digits name, the last one at the leaf."""
    return [chooser // tree.width[h] % tree.parents[h] for h in range(tree.levels)]


def _require_tree(topology: Topology, spec: str) -> Tree:
    require_topology(topology, spec)
    if not isinstance(topology, Tree):
        if (instead := find(topology, Instead)) is not None:
            raise RoutingError(f"{spec} routes on fat trees that are given by their formula: {instead.routing}")
        raise RoutingError(f"{spec} routes on fat trees, {topology.spec} is not one: use fattree, eft2 or xgft")
    if len(topology.terminals) != topology.below[-1] or topology.terminals.max() >= topology.below[-1]:
        raise RoutingError(f"{spec} needs every host of {topology.spec} as a terminal")
    return topology


def require_levels(tree: Tree, spec: str, levels: int) -> None:
    """Refuse a tree without so many levels of switches, or with several links a host."""
    if tree.levels != levels or tree.parents[0] != 1:
        raise RoutingError(
            f"{spec} is for {levels} levels of switches with one link a host, {tree.spec} has {tree.levels}: "
            + ("take osrm2" if tree.levels == 2 else "take osrm3 or osrm3-d" if tree.levels == 3 else "take dmodk")
        )


# Which root the hosts of two leaves take, by their places at their leaves: groups of both, or covers


def best_grid(hosts: int, roots: int) -> tuple[int, int]:
    """Return the numbers of groups of sources and of destinations, with at most as many pairs of them as roots.

    Of equals the one with the fewest groups of sources, since a host needs an address for each; but two at least, as
    the paper has them: with one it would be D-mod-k.
    """

    def key(grid: tuple[int, int]) -> tuple[int, int]:
        return max(ceil(hosts / part) for part in grid), grid[0]

    return min(((a, roots // a) for a in range(min(2, roots), roots + 1)), key=key)


def cover_root(source: Array, destination: Array, k: int, lids: int) -> Array:
    """Return the root for places 0 .. k - 1 of source and destination, such that each has few sources and destinations.

    The distance q = (d - s) mod k is lids · t + c with c < lids, and the root is d - c mod k.  So root i has the
    destinations i + c, `lids` of them, from the sources i - lids · t, ⌈k / lids⌉ of them; to a destination each leaf
    uses the `lids` roots d - c.

    Examples
    --------
    >>> place = np.arange(3)
    >>> cover_root(place[:, None], place, 3, 2).tolist()
    [[0, 0, 2], [0, 1, 1], [2, 1, 2]]
    """
    return np.asarray((destination - (destination - source) % k % lids) % k)


def fewest_lids(k: int) -> int:
    """Return the fewest addresses a host with which :func:`cover_root` attains ⌈√k⌉: one below that, or as many.

    Examples
    --------
    >>> [fewest_lids(k) for k in (2, 3, 4, 8, 12, 18)]
    [1, 2, 2, 3, 3, 4]
    """
    return ceil(k / (isqrt(k - 1) + 1))


# Routings on fat trees by the digits or a hash of source and destination


@register_routing("dmodk", example="dmodk")
class DModK(TreeRouting):
    """D-mod-k: the digits of the destination choose the ports, the last digit at the leaf.

    WSR of Yuan et al. comes to the same on FT(m, n), if ties go to the lowest path number.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.DModK(obliv.fattree(8, 3))).ratio
    Fraction(7, 1)
    """

    end = "destination"

    def __init__(self, topology: Topology, spec: str = "dmodk") -> None:
        super().__init__(topology, spec)

    @property
    def alike(self) -> int:
        return self.topology.children[0] if self.end == "destination" and self.topology.parents[0] == 1 else 1

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        chooser = destination if self.end == "destination" else source
        return number_of(tree, tree.turn(source, destination), last_digits(tree, chooser))[..., None]

    def classes(self) -> tuple[Array, Array]:
        chooser = np.arange(self.topology.below[-1]) % self.topology.width[-1]  # all digits that choose a port
        other = np.zeros_like(chooser)
        return (other, chooser) if self.end == "destination" else (chooser, other)


@register_routing("smodk", example="smodk", aliases=("mlid",))
class SModK(DModK):
    """S-mod-k, the MLID of Lin et al.: the digits of the source choose the ports, the last digit at the leaf.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.SModK(obliv.fattree(8, 3))).ratio
    Fraction(7, 1)
    """

    end = "source"

    def __init__(self, topology: Topology, spec: str = "smodk") -> None:
        super().__init__(topology, spec)


@register_routing("hash", example="hash:seed=1")
class Hash(TreeRouting):
    """Shortest path chosen by a hash of source and destination, as switches do for flows.

    Examples
    --------
    >>> import obliv
    >>> obliv.ratio(obliv.Hash(obliv.fattree(8, 2), seed=1)).ratio
    Fraction(4, 1)
    """

    def __init__(self, topology: Topology, seed: int = 0, spec: str = "") -> None:
        seed = integer(seed, "hash: seed")
        super().__init__(topology, spec or (f"hash:seed={seed}" if seed else "hash"))
        self.seed = seed

    def ways(self, source: Array, destination: Array) -> Array:
        tree = self.topology
        drawn = mixed(source, destination, self.seed)
        width = np.array(tree.width, np.uint64)[tree.turn(source, destination)]
        return (drawn % width).astype(np.int64)[..., None]


def mixed(source: Array, destination: Array, seed: int) -> Array:
    """64 bits that look random, from a pair and a seed (splitmix64)."""
    state = (np.asarray(source, np.uint64) << np.uint64(32)) + np.asarray(destination, np.uint64)
    state = state ^ np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    state = np.atleast_1d(state)  # wraps without a word, which a single number does not
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0x9E3779B97F4A7C15)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(state ^ (state >> np.uint64(32))).reshape(np.broadcast(source, destination).shape)


# Kernels: paths on fat trees that are chosen one after another


@kernel
def least_weights(below: Array, width: Array, counts: Array, draws: Array, table: Array) -> None:
    """Fill ``table[s, d]`` with the path number of least count, pair after pair; ``counts[up, height, link]``.

    Of equal ones the first, or that which ``draws[s, d]``, a number below 2^31, selects if there are such.
    """
    n = len(table)
    cost = np.zeros((2, width[len(width) - 1]), counts.dtype)  # of all paths up to one height and to the next one
    for s in range(n):
        for d in range(n):
            if s == d:
                continue
            turn = 0
            while s // below[turn] != d // below[turn]:
                turn += 1
            cost[0, 0] = 0
            for h in range(turn):
                links = width[h + 1]
                ports = links // width[h]
                lower, upper = cost[h % 2], cost[(h + 1) % 2]
                first_up, first_down = s // below[h] * links, d // below[h] * links
                for node in range(width[h]):
                    start, end = node * ports, (node + 1) * ports
                    up = counts[1, h, first_up + start : first_up + end]
                    down = counts[0, h, first_down + start : first_down + end]
                    sums, before = upper[start:end], lower[node]
                    for port in range(len(sums)):
                        sums[port] = before + up[port] + down[port]
            total = cost[turn % 2, : width[turn]]
            least = total[0]
            for number in range(1, width[turn]):
                least = min(least, total[number])
            left = 0  # of the equal ones, how many come before the chosen one
            if len(draws) > 0:
                for number in range(width[turn]):
                    left += total[number] == least
                left = (draws[s, d] * left) >> 31
            chosen = 0
            while left > 0 or total[chosen] != least:
                left -= total[chosen] == least
                chosen += 1
            table[s, d] = chosen
            for h in range(turn):
                port = chosen // (width[turn] // width[h + 1])
                counts[1, h, s // below[h] * width[h + 1] + port] += 1
                counts[0, h, d // below[h] * width[h + 1] + port] += 1


# Routings on fat trees from tables: by switch and destination, or computed pair by pair


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
    if single_path(routing) is None:
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
