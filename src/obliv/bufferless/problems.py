"""Instances of packet routing, a leveled network and paths; general traffic on meshes as several such instances."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv._util.rng import Rng, generator, seed_of
from obliv._util.text import did_you_mean
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.leveled.families import array, leveled_mesh
from obliv.bufferless.leveled.files import read_paths
from obliv.bufferless.leveled.instances import Instance
from obliv.bufferless.paths import families
from obliv.bufferless.paths import grids as grid_paths
from obliv.bufferless.paths.families import ROWS, Drawn, across, rows
from obliv.bufferless.paths.grids import between, destinations
from obliv.errors import FileError, InputError, SpecError
from obliv.topologies.cartesian import axes_of
from obliv.topologies.make import topology as topology_of

#: Every kind of paths; what a family has is in :data:`FAMILIES`.
KINDS = ROWS


class PathFamily(NamedTuple):
    """How paths of a family are drawn, and which kinds make sense there."""

    draw: Callable[..., Drawn]
    kinds: tuple[str, ...]


FAMILIES = {
    "butterfly": PathFamily(partial(rows, families.butterfly), ROWS),
    "unrolled-debruijn": PathFamily(partial(rows, families.debruijn), ROWS),
    "unrolled-shuffle": PathFamily(partial(rows, families.shuffle), ROWS),
    "unrolled-fattree": PathFamily(partial(rows, families.fattree), ROWS),
    "multibutterfly": PathFamily(partial(rows, families.multibutterfly), ROWS),
    "leveled-mesh": PathFamily(grid_paths.mesh, ROWS),
    "array": PathFamily(grid_paths.array, ("random", "permutation", "bit-reverse", "hotspot")),
    "leveled-hypercube": PathFamily(grid_paths.hypercube, ("random", "permutation", "hotspot")),
    "random-leveled": PathFamily(families.random_leveled, ("random",)),
    "deep": PathFamily(families.deep, ("random",)),
}
_OTHER = PathFamily(families.anywhere, ("random",))
#: Families without paths of their own between given pairs.
_DRAWN_ACROSS = ("random-leveled", "deep")
#: The leveled form of other networks.
_LEVELED = {"mesh": "leveled-mesh", "line": "array", "hypercube": "leveled-hypercube"}


def instance(
    network: Leveled | str,
    paths: str | Path | Iterable[Iterable[int]] = "random",
    rng: Rng = None,
    **options: Any,
) -> Instance:
    """Return an instance: a leveled network and one path along it for every packet.

    Parameters
    ----------
    network : Leveled or str
        For example ``butterfly:5``.
    paths : str, Path or lists of int
        ``random``, ``permutation``, ``transpose``, ``bit-reverse`` or ``hotspot``; a file of paths or a saved instance;
        or the edges of every path, lowest level first.
    rng : numpy.random.Generator, int or None
        Random generator or seed of the paths; None for seed 0.
    **options
        Of the network's family: `share` of a hotspot; `route` and `rate` of a mesh; `rate` and `maxlen` of an array;
        `probability` on a hypercube; `packets`, `minlen` and `maxlen` of random walks.

    Returns
    -------
    Instance
        Packets that are at their destination already, and pairs that no path joins, are left out and counted in its
        notes.

    Raises
    ------
    InputError
        If the network has no levels, the kind of paths is not available on it, an option is unknown or the paths do not
        hold together.

    Notes
    -----
    Network, kind of paths, options and seed determine the paths.  The order of the random draws depends on the size:
    random paths on meshes with a side of 128 or more, and on hypercubes of 14 dimensions or more, are drawn all at
    once, on smaller ones packet by packet.

    Examples
    --------
    >>> instance("butterfly:6")
    <Instance of 64 packets on butterfly:6, random paths: congestion 3, dilation 6>
    >>> instance("array:4", [[0, 1], [1, 2]]).destination.tolist()
    [2, 3]
    """
    network = leveled(network)
    if isinstance(paths, Path) or (isinstance(paths, str) and paths not in KINDS):
        _no_options(options, "paths from a file")
        return _from_file(network, paths)
    if not isinstance(paths, str):
        _no_options(options, "paths that are given")
        return _explicit(network, paths)
    family = FAMILIES.get(network.family, _OTHER)
    if paths != "random" and (network.family in _DRAWN_ACROSS or network.family not in FAMILIES):
        family = PathFamily(across, ROWS)
    if paths not in family.kinds:
        raise InputError(f"{paths} is not available on {network.spec}; use {', '.join(family.kinds)}")
    known = inspect.signature(family.draw).parameters.values()
    _no_options(options, f"{network.spec}", [p.name for p in known if p.kind is inspect.Parameter.KEYWORD_ONLY])
    _require_numbers(options)
    try:
        drawn = family.draw(network, paths, generator(rng), **options)
    except TypeError as error:  # an option of the wrong type
        raise InputError(f"invalid options {options}: {error}") from None
    if len(drawn.start) == 1:
        raise InputError(
            f"{paths} on {network.spec}: there is no packet to route; {'; '.join(drawn.notes) or 'no node sends'}"
        )
    return Instance(network, drawn.start, drawn.edge, paths, seed_of(rng), drawn.notes)


def load_instance(path: str | Path) -> Instance:
    """Return the instance in a file that ``Instance.save`` wrote, or in a saved schedule.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Instance

    Raises
    ------
    FileError
        If the file does not hold a valid instance.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "paths.json")
    >>> instance("butterfly:4", "transpose").save(path)
    >>> load_instance(path)
    <Instance of 16 packets on butterfly:4, transpose paths: congestion 2, dilation 4>
    """
    return Instance.load(path)


def leveled(network: Any) -> Leveled:
    """Return the leveled network of a spec, or the network itself."""
    topology = topology_of(network)
    if not isinstance(topology, Leveled):
        name, _, rest = topology.spec.partition(":")
        other = f"; its leveled form is {_LEVELED[name]}:{rest}" if name in _LEVELED else ""
        raise InputError(f"{topology.spec} has no levels{other or ', as butterfly:5 or leveled-file:PATH have them'}")
    return topology


def _no_options(options: dict[str, Any], what: str, known: Iterable[str] = ()) -> None:
    known = list(known)
    for name in options:
        if name == "seed":
            raise InputError("seed is called rng now: give a random generator or a seed as rng=")
        if name not in known:
            raise InputError(f"{what} takes no option {name!r}: {did_you_mean(name, known)}")


def _require_numbers(options: dict[str, Any]) -> None:
    whole = ("packets", "minlen", "maxlen")
    for name, value in options.items():
        if name == "route" or value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer if name in whole else Real):
            raise InputError(f"{name}={value!r}: it must be a {'whole number' if name in whole else 'number'}")


def _explicit(network: Leveled, paths: Any) -> Instance:
    try:
        lists = [np.asarray(list(path)) for path in paths]
    except TypeError:
        raise InputError("paths are lists of edge numbers, one for every packet, such as [[0, 3], [5]]") from None
    if any(path.ndim != 1 or (path.size and path.dtype.kind not in "iu") for path in lists):
        raise InputError("paths are lists of edge numbers, one for every packet, such as [[0, 3], [5]]")
    routes = [path.astype(np.int64) for path in lists if path.size]
    start = starts([len(path) for path in routes])
    edge = np.concatenate([*routes, np.zeros(0, np.int64)])
    dropped = len(lists) - len(routes)
    notes = (f"{dropped} empty paths are left out: their packets are at their destination",) if dropped else ()
    if len(edge) and (edge.min() < 0 or edge.max() >= network.edges):
        wrong = int(edge[(edge < 0) | (edge >= network.edges)][0])
        raise InputError(f"a path takes edge {wrong}; {network.spec} has the edges 0 to {network.edges - 1}")
    explicit = Instance(network, start, edge.astype(np.int32), "given", None, notes)
    explicit.require_paths()
    return explicit


def _from_file(network: Leveled, path: str | Path) -> Instance:
    if isinstance(path, str) and not os.path.exists(path):
        raise SpecError(f"paths {path!r}: neither a kind of paths nor a file; {did_you_mean(path, KINDS)}")
    start, edge, notes = read_paths(path, network)
    if len(start) == 1:
        raise FileError("there is no path in it", path)
    return Instance(network, start, edge, str(path), None, notes)


# General traffic on meshes and lines: classes of packets with the same directions, each on a leveled network


def instances(topology: Any, paths: Any = "random", rng: Rng = None, **options: Any) -> list[Instance]:
    """Return the instances of traffic on a topology, one for each orientation.

    Parameters
    ----------
    topology : str or Topology
        A leveled network, or ``mesh:AxB`` (of any dimension), ``line:N`` or ``hypercube:K``, which are taken in their
        leveled form.
    paths, rng, **options
        As for :func:`obliv.bufferless.instance`; on the last three as for :func:`oriented`.

    Returns
    -------
    list of Instance
        One on a leveled network and on a hypercube, one for each orientation that has packets elsewhere.

    Raises
    ------
    InputError
        If the topology has no leveled form, or the paths make no sense on it.

    Examples
    --------
    >>> [instance.network.spec for instance in instances("line:16")]
    ['array:16', 'array:16,orientation=-']
    >>> instances("butterfly:6")
    [<Instance of 64 packets on butterfly:6, random paths: congestion 3, dilation 6>]
    """
    network = topology_of(topology)
    if isinstance(network, Leveled):
        return [instance(network, paths, rng, **options)]
    if not axes_of(network):
        leveled(network)
    _no_options(options, network.spec, list(inspect.signature(oriented).parameters)[3:])
    if not isinstance(paths, str) or paths not in KINDS:
        hint = did_you_mean(paths, KINDS) if isinstance(paths, str) else f"known: {', '.join(KINDS)}"
        raise InputError(f"paths that are given need one leveled network, such as leveled-mesh:4x4; {hint}")
    return oriented(network, paths, rng, **options)


def oriented(
    topology: Any,
    paths: str = "random",
    rng: Rng = None,
    *,
    route: str = "random",
    share: float = 0.1,
) -> list[Instance]:
    """Return the instances of traffic on a mesh, a line or a hypercube, one for each orientation that has packets."""
    network = topology_of(topology)
    sides = network.radices if all(along.kind == "line" for along in axes_of(network)) else ()
    if network.spec.startswith("hypercube:"):
        return [instance(f"leveled-{network.spec}", paths, rng, share=share)]
    if not sides:
        raise InputError(
            f"{network.spec} has no leveled form; mesh:AxB, line:N and hypercube:K have one, and the leveled networks "
            "are butterfly, leveled-mesh, array, leveled-hypercube, multibutterfly, random-leveled, deep and unrolled "
            "ones"
        )
    if paths not in KINDS:
        raise InputError(f"paths {paths!r} on {network.spec}: {did_you_mean(str(paths), KINDS)}")
    if route not in ("random", "xy"):
        raise InputError(f"route={route}: it must be random, or xy for all steps of the first dimension before others")
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: it must lie between 0 and 1")
    if paths == "transpose" and len(sides) == 1:
        raise InputError(f"transpose is not available on {network.spec}; use random, permutation, bit-reverse, hotspot")
    random = generator(rng)
    source = np.arange(network.nodes)
    to = _to(network.spec, paths, sides, random, share)
    classes = []
    against = _against(source, to, sides)
    for code in np.unique(against[source != to]).tolist():
        chosen = (against == code) & (source != to)
        orientation = "".join("-" if code >> bit & 1 else "+" for bit in reversed(range(len(sides))))
        leveled_form = (
            array(sides[0], orientation) if len(sides) == 1 else leveled_mesh(*sides[::-1], orientation=orientation)
        )
        drawn = between(leveled_form, source[chosen], to[chosen], random, "yx" if route == "xy" else route)
        notes = _notes(network, source, to)
        classes.append(Instance(leveled_form, drawn.start, drawn.edge, paths, seed_of(rng), notes))
    if not classes:
        raise InputError(f"{paths} on {network.spec}: every node is its own destination, there is no packet to route")
    return classes


def _to(spec: str, kind: str, sides: tuple[int, ...], rng: np.random.Generator, share: float) -> Array:
    nodes = int(np.prod(sides))
    if kind not in ("random", "hotspot"):
        return destinations(spec, kind, sides, rng)
    if nodes < 2:
        raise InputError(f"{spec}: a packet needs a second node to go to")
    other = (np.arange(nodes) + rng.integers(1, nodes, nodes)) % nodes
    return np.where(rng.random(nodes) < share, 0, other) if kind == "hotspot" else other


def _against(source: Array, to: Array, sides: tuple[int, ...]) -> Array:
    """Return the dimensions in which packets step down, as bits; the first dimension is the lowest bit."""
    begin, goal = np.unravel_index(source, sides[::-1])[::-1], np.unravel_index(to, sides[::-1])[::-1]
    return sum(
        ((b < a).astype(np.int64) << bit for bit, (a, b) in enumerate(zip(begin, goal, strict=True))),
        np.zeros(len(source), np.int64),
    )


def _notes(network: Any, source: Array, to: Array) -> tuple[str, ...]:
    staying = int((source == to).sum())
    return (f"{staying} of {network.nodes} packets are at their destination already and left out",) if staying else ()
