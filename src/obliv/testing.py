"""Checks of your own topologies, routings and pair loads, as the project runs them on its own.

Each function returns None where all is well, and raises :class:`obliv.CheckError` with what is wrong and where. All
numbers are compared exactly. The checks enumerate all paths: use small networks, of up to some fifty terminals.

>>> import obliv
>>> obliv.testing.check_topology("torus:4x3")
>>> obliv.testing.check_routing(obliv.routing("romm", "torus:4x3"))
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.rng import Rng, generator
from obliv.checker.verify import verify
from obliv.designs.bounds.congestion import hop_distances
from obliv.errors import CheckError, InputError, SpecError
from obliv.loads.base import PairLoads
from obliv.patterns.base import traffic
from obliv.patterns.files import matrix, permutation
from obliv.questions.subject import loads_of, routing_of
from obliv.questions.worst_case import worst_case
from obliv.routings.base import Routing, RoutingLike, draws_only
from obliv.routings.make import routing as routing_from
from obliv.routings.paths import Path, checked_channels, checked_paths, merged, require_all
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import channel_map, terminal_map
from obliv.topologies.make import topology as topology_from

__all__ = ["check_loads", "check_routing", "check_topology"]


def __dir__() -> list[str]:
    return __all__


_PERMUTATIONS = 20  # random ones that must not exceed the worst case
_DRAWN = 50  # pairs of which a path is drawn


def check_topology(topology: Topology | str | Callable[[], Any]) -> None:
    """Check that a topology is what it claims to be.

    Parameters
    ----------
    topology : Topology, str or callable
        The network, its spec, or a function without parameters that makes it.

    Returns
    -------
    None

    Raises
    ------
    CheckError
        If a terminal cannot reach another one; a generator or translation is not an automorphism, or the translations
        do not commute or do not move node 0 onto every node exactly once; the capacity is less than distances allow, or
        more than ECMP needs; a copy by pickle, a second call or the spec does not make an equal topology.
    InputError
        If no topology can be made of the argument.

    Examples
    --------
    >>> import obliv
    >>> check_topology("hypercube:3")
    >>> check_topology(lambda: obliv.build("one way", 3, [(0, 1), (1, 2)]))
    Traceback (most recent call last):
    ...
    obliv.errors.CheckError: one way: no path leads from terminal 1 to terminal 0
    """
    network = _made(topology)
    _require(callable(topology) is False or _made(topology) == network, f"{network}: two calls make two networks")
    _connected(network)
    for what, maps in (("generator", network.generators), ("translation", network.translations)):
        for number, node_map in enumerate(maps):
            _automorphism(network, np.asarray(node_map), f"{network}: {what} {number}")
    if network.translations:
        _regular(network)
    if network.capacity_load is not None:
        _capacity(network)
    _same_again(network, network.spec)
    again = _by_spec(network.spec, lambda: topology_from(network.spec))
    _require(again is None or again == network, f"{network}: its spec makes another topology")


def check_routing(routing: RoutingLike, topology: Topology | str | None = None, *, rng: Rng = None) -> None:
    """Check the paths of a routing, then its loads with :func:`check_loads`.

    Parameters
    ----------
    routing : Routing, spec, class or object
        As for :func:`obliv.routing`.
    topology : Topology or str, optional
        The network, where the routing does not know it.
    rng : numpy.random.Generator or int, optional
        Random seed of the traffic and of the paths drawn; default 0.

    Returns
    -------
    None

    Raises
    ------
    CheckError
        If a path does not lead from its source to its destination along channels; the probabilities of a pair do not
        add up to one; the paths differ when asked for again; a path that is drawn is not one of them; a copy by pickle
        or the spec makes another routing; or if the loads are wrong.
    InputError
        If no routing can be made of the arguments.

    Examples
    --------
    >>> import obliv
    >>> check_routing("1/2*dor+1/2*dor:yx", "mesh:3x3")
    >>> class Lossy(obliv.Routing):
    ...     '''Loses half of the packets.'''
    ...     def paths(self, source, destination):
    ...         nodes = range(source, destination) if source < destination else ()
    ...         yield [self.topology.channel(v, v + 1) for v in nodes], 1 / 2
    >>> check_routing(Lossy(obliv.build("ring", 3, [(0, 1), (1, 2), (2, 0)]), "lossy"))
    Traceback (most recent call last):
    ...
    obliv.errors.CheckError: lossy: the paths from 0 to 0 have total probability 1/2, not 1
    """
    way = routing_from(routing, topology)
    if draws_only(way):
        raise InputError(
            f"{way.spec}: a routing that only draws paths gives estimates, which cannot be checked exactly"
        )
    with _named():
        paths = _all_paths(way)
    for (source, destination), law in paths.items():
        same = law == dict(merged(checked_paths(way, source, destination)))
        _require(same, f"{way}: its paths {_pair(way, source, destination)} differ when asked for again")
    chance = _chance(rng)
    random_paths = generator(chance.randrange(2**32))
    for source, destination in chance.sample(sorted(paths), min(_DRAWN, len(paths))):
        if law := paths[source, destination]:
            with _named():
                drawn = checked_channels(way, source, destination, way.sample(source, destination, random_paths))
            pair = _pair(way, source, destination)
            _require(drawn in law, f"{way}: sample draws {list(drawn)} {pair}, which is not one of its paths")
    _same_again(way, way.spec)
    again = _by_spec(way.spec, lambda: routing_from(way.spec, way.topology))
    if again is not None:
        _require(_all_paths(again) == paths, f"{way}: its spec makes another routing on {way.topology}")
    with _named():
        loads = way.pair_loads()
    _check(way, loads, paths, chance)


def check_loads(x: RoutingLike | PairLoads, *, rng: Rng = None) -> None:
    """Check the pair loads of a routing, or pair loads by themselves.

    Parameters
    ----------
    x : Routing, object with paths and a topology, or PairLoads
        What pair loads alone cannot show is left out: that they are sums over paths, and the certificate.
    rng : numpy.random.Generator or int, optional
        Random seed of the traffic; default 0.

    Returns
    -------
    None

    Raises
    ------
    CheckError
        If the loads of a pair are not the sums over its paths; loads are not linear in traffic; the mean path length is
        not the sum of the loads under uniform traffic; a symmetry that is claimed does not hold; a copy by pickle
        differs; the worst case is less than that of a random permutation, not attained by its own traffic, or not
        proved by :func:`obliv.verify`.
    InputError
        If there are no exact loads.

    Examples
    --------
    >>> import obliv
    >>> check_loads(obliv.DOR(obliv.mesh(3, 3)))
    >>> check_loads(obliv.DOR(obliv.mesh(3, 3)).pair_loads())
    """
    chance = _chance(rng)
    if isinstance(x, PairLoads):
        _check(None, loads_of(x, "check_loads"), None, chance)
        return
    way = routing_of(x, "check_loads")
    with _named():
        paths = _all_paths(way)
    with _named():
        loads = way.pair_loads()
    _check(way, loads, paths, chance)


# Checks of topologies


def _made(given: Any) -> Topology:
    return topology_from(given() if callable(given) else given)


def _connected(network: Topology) -> None:
    """Require a path from every terminal to every other one."""
    names = [network.name_of(node) for node in network.terminals.tolist()]
    for terminal, far in enumerate(_distances(network)):
        missing = np.flatnonzero(np.isinf(far))
        if len(missing):
            there = names[int(missing[0])]
            raise CheckError(f"{network}: no path leads from terminal {names[terminal]} to terminal {there}")


def _distances(network: Topology) -> Array:
    """Return the number of hops between all ordered pairs of terminals; infinite where no path leads."""
    between: Array = hop_distances(network)[np.ix_(network.terminals, network.terminals)]
    return between


def _automorphism(network: Topology, node_map: Array, what: str) -> None:
    if channel_map(network, node_map) is None:
        raise CheckError(f"{what} is not an automorphism: it must map the nodes one to one and channels onto channels")


def _regular(network: Topology) -> None:
    """Require that translations commute, and that their products move node 0 onto every node exactly once."""
    maps = [np.asarray(node_map) for node_map in network.translations]
    for i, one in enumerate(maps):
        for j, two in enumerate(maps[:i]):
            _require(np.array_equal(one[two], two[one]), f"{network}: translations {j} and {i} do not commute")
    reached: dict[int, Array] = {0: np.arange(network.nodes)}
    order = [0]
    for node in order:
        for node_map in maps:
            moved = node_map[reached[node]]
            first = int(moved[0])
            if first not in reached:
                reached[first] = moved
                order.append(first)
            _require(
                np.array_equal(reached[first], moved),
                f"{network}: two products of the translations move node 0 onto node {first}",
            )
    _require(
        len(reached) == network.nodes,
        f"{network}: the translations move node 0 onto {len(reached)} of {network.nodes} nodes",
    )


def _capacity(network: Topology) -> None:
    """Require that the load of uniform traffic is within what distances and equal splits allow."""
    claim = network.capacity_load
    speed = sum((network.bandwidth_of(c) for c in range(network.channels)), Fraction(0))
    if claim is None or not speed:
        return
    least = Fraction(int(_distances(network).sum()), len(network.terminals)) / speed
    most = routing_from("ecmp", network).pair_loads().largest_under(traffic("uniform", network))
    _require(claim >= least, f"{network}: capacity_load is {claim}, but distances allow no less than {least}")
    _require(claim <= most, f"{network}: capacity_load is {claim}, but ecmp needs no more than {most}")


# Checks of routings, their paths, and pair loads

_Law = dict[tuple[int, ...], Fraction]


def _all_paths(way: Routing) -> dict[tuple[int, int], _Law]:
    """Return the paths of all pairs of terminals, checked."""
    laws = {}
    nodes = way.topology.terminals.tolist()
    for source in nodes:
        for destination in nodes:
            listed: list[Path] = list(checked_paths(way, source, destination))
            law = laws[source, destination] = dict(merged(listed))
            require_all(way, source, destination, sum(law.values(), Fraction(0)))
    return laws


def _check(
    way: Routing | None, loads: PairLoads, paths: dict[tuple[int, int], _Law] | None, chance: random.Random
) -> None:
    """Check pair loads; with the routing and its paths where they are known."""
    name = way.spec if way is not None else "pair loads"
    if way is not None and paths is not None:
        _sums(name, loads, paths)
        if way.relative:
            for number, node_map in enumerate(way.topology.translations):
                _require(
                    loads.keeps(node_map), f"{name} is declared relative, but translation {number} changes its loads"
                )
    _algebra(name, loads, chance)
    _symmetries(name, loads, chance)
    _same_again(loads, f"the loads of {name}")
    _worst(name, way, loads, chance)


def _sums(name: str, loads: PairLoads, paths: dict[tuple[int, int], _Law]) -> None:
    """Require that the load of each pair on each channel is the sum over its paths."""
    network = loads.topology
    number = network.number_of.tolist()
    right: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(network.channels)]
    for (source, destination), law in paths.items():
        pair = number[source], number[destination]
        for channels, share in law.items():
            for c in channels:
                right[c][pair] = right[c].get(pair, Fraction(0)) + share
    names = [network.name_of(node) for node in network.terminals.tolist()]
    for c, wanted in enumerate(right):
        row, column, weight = loads.weights(c).spread()
        given = {
            (int(i), int(j)): Fraction(int(w), loads.denominator)
            for i, j, w in zip(row, column, weight, strict=True)
            if w
        }
        for i, j in sorted(given.keys() | wanted.keys()):
            has, sums = given.get((i, j), Fraction(0)), wanted.get((i, j), Fraction(0))
            _require(
                has == sums,
                f"{name}: from {names[i]} to {names[j]}, the load of channel {c} ({network.channel_name(c)}) is {has}, "
                f"but its paths add up to {sums}",
            )


def _algebra(name: str, loads: PairLoads, chance: random.Random) -> None:
    """Require that loads are linear in traffic, and that under uniform traffic they add up to the mean path length."""
    network, n = loads.topology, loads.terminals
    one = [[Fraction(chance.randint(0, 3), 3 * n) for _ in range(n)] for _ in range(n)]
    image = chance.sample(range(n), n)
    two = [[Fraction(int(image[i] == j)) for j in range(n)] for i in range(n)]
    mixed = [[(a + 2 * b) / 3 for a, b in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
    parts = [loads.under(given) for given in (matrix(one), permutation(image), matrix(mixed))]
    for c, (a, b, both) in enumerate(zip(*parts, strict=True)):
        _require(
            both == (a + 2 * b) / 3,
            f"{name}: loads are not linear: channel {c} ({network.channel_name(c)}) carries {a} and {b} under two "
            f"traffic matrices, but {both} under a third of the first plus two thirds of the second",
        )
    uniform = loads.under(traffic("uniform", network))
    total = sum((load * network.bandwidth_of(c) for c, load in enumerate(uniform)), Fraction(0))
    _require(
        loads.hops() == total / n,
        f"{name}: the mean path length is {loads.hops()}, but the loads of uniform traffic add up to {total / n}",
    )


def _symmetries(name: str, loads: PairLoads, chance: random.Random) -> None:
    """Require that a symmetry that the loads are said to keep moves the loads of a random permutation as well."""
    network, n = loads.topology, loads.terminals
    image = np.array(chance.sample(range(n), n))
    before = loads.under(permutation(image.tolist()))
    for number, given in enumerate((*network.generators, *network.translations)):
        node_map = np.asarray(given)
        moved, place = channel_map(network, node_map), terminal_map(network, node_map)
        if moved is None or place is None or not loads.keeps(node_map):
            continue
        turned = np.empty(n, np.int64)
        turned[place] = place[image]
        after = loads.under(permutation(turned.tolist()))
        for c, load in enumerate(before):
            there = int(moved[c])
            _require(
                after[there] == load,
                f"{name}: symmetry {number} maps channel {c} to channel {there}, but their loads under corresponding "
                f"permutations are {load} and {after[there]}",
            )


def _worst(name: str, way: Routing | None, loads: PairLoads, chance: random.Random) -> None:
    """Require a worst case that is attained, proved, and at least the load of random permutations."""
    n = loads.terminals
    result = worst_case(loads if way is None else way, certificate=way is not None)
    worst = result.channel_load
    if not isinstance(worst, Fraction):
        raise CheckError(f"{name}: its worst case is an estimate, {worst}")
    if result.permutation is not None:
        attained = loads.largest_under(permutation(list(result.permutation)))
        _require(
            attained == worst,
            f"{name}: the worst case is {worst}, but its traffic loads channels by {attained}",
        )
    slowest = min((Fraction(1), *loads.topology.injection, *loads.topology.ejection))
    for _ in range(_PERMUTATIONS):
        image = chance.sample(range(n), n)
        load = slowest * loads.largest_under(permutation(image))
        _require(
            load <= worst,
            f"{name}: the worst case is {worst}, but the permutation {image} has a load of {load}",
        )
    if way is not None:
        report = verify(result, topology=way.topology, routing=way)
        _require(report.proved, f"{name}: obliv.verify does not prove its worst case: {report.verdict}")


# Parts that all checks share


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise CheckError(message)


@contextmanager
def _named() -> Iterator[None]:
    """Turn errors about paths into failed checks."""
    try:
        yield
    except CheckError:
        raise
    except InputError as error:
        raise CheckError(str(error)) from None


def _same_again(value: Any, name: str) -> None:
    try:
        again = pickle.loads(pickle.dumps(value))
    except Exception as error:
        raise CheckError(
            f"{name} cannot be pickled, which workers need: {error}; define its class at the top of a module"
        ) from None
    _require(again == value, f"{name}: a copy made by pickle is not equal to the original")


def _by_spec(spec: str, make: Callable[[], Any]) -> Any:
    """Return what a spec makes; None where it is only a description, such as a name that is not registered."""
    try:
        return make()
    except SpecError:
        return None
    except InputError as error:
        if " " in spec:  # such as "mesh:4x4 with rates"
            return None
        raise CheckError(f"{spec}: nothing can be made from this spec: {error}") from None


def _pair(way: Routing, source: int, destination: int) -> str:
    return f"from {way.topology.name_of(source)} to {way.topology.name_of(destination)}"


def _chance(rng: Rng) -> random.Random:
    return random.Random(int(generator(rng).integers(2**32)))
