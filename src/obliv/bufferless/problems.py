"""Instances of packet routing: a leveled network and paths."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import starts
from obliv._util.rng import Rng, generator, seed_of
from obliv._util.text import did_you_mean
from obliv.bufferless.paths import grids as grid_paths
from obliv.bufferless.paths import rows as rows_of
from obliv.bufferless.paths import walks
from obliv.bufferless.paths.across import across
from obliv.bufferless.paths.rows import ROWS, Drawn, rows
from obliv.errors import FileError, InputError, SpecError
from obliv.io.formats.leveled import read_paths
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.instances import Instance
from obliv.topologies.make import topology as topology_of

__all__ = ["KINDS", "instance", "leveled", "load_instance"]

#: Every kind of paths; what a family has is in :data:`FAMILIES`.
KINDS = ROWS


class Family(NamedTuple):
    """How paths of a family are drawn, and which kinds make sense there."""

    draw: Callable[..., Drawn]
    kinds: tuple[str, ...]


FAMILIES = {
    "butterfly": Family(partial(rows, rows_of.butterfly), ROWS),
    "unrolled-debruijn": Family(partial(rows, rows_of.debruijn), ROWS),
    "unrolled-shuffle": Family(partial(rows, rows_of.shuffle), ROWS),
    "unrolled-fattree": Family(partial(rows, rows_of.fattree), ROWS),
    "multibutterfly": Family(partial(rows, rows_of.multibutterfly), ROWS),
    "leveled-mesh": Family(grid_paths.mesh, ROWS),
    "array": Family(grid_paths.array, ("random", "permutation", "bit-reverse", "hotspot")),
    "leveled-hypercube": Family(grid_paths.hypercube, ("random", "permutation", "hotspot")),
    "random-leveled": Family(walks.random_leveled, ("random",)),
    "deep": Family(walks.deep, ("random",)),
}
_OTHER = Family(walks.anywhere, ("random",))
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
        family = Family(across, ROWS)
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
    """Return the leveled network of a spec, or the network itself.

    Raises
    ------
    InputError
        If it has no levels; the message names the leveled form where there is one.
    """
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
