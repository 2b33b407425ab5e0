"""General traffic on meshes and lines: classes of packets with the same directions, each on a leveled network."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from obliv._util.rng import Rng, generator, seed_of
from obliv._util.text import did_you_mean
from obliv._util.typing import Array
from obliv.bufferless.paths.grids import between, destinations
from obliv.bufferless.problems import instance, leveled
from obliv.errors import InputError
from obliv.topologies.leveled.base import Leveled
from obliv.topologies.leveled.families import array, leveled_mesh
from obliv.topologies.leveled.instances import Instance
from obliv.topologies.make import topology as topology_of

__all__ = ["instances", "oriented"]


_KINDS = ("random", "permutation", "transpose", "bit-reverse", "hotspot")


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
    if not network.axes:
        leveled(network)
    known = [name for name in inspect.signature(oriented).parameters if name not in ("topology", "paths", "rng")]
    for name in options:
        if name not in known:
            raise InputError(f"{network.spec} takes no option {name!r}: {did_you_mean(name, known)}")
    if not isinstance(paths, str) or paths not in _KINDS:
        hint = did_you_mean(paths, _KINDS) if isinstance(paths, str) else f"known: {', '.join(_KINDS)}"
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
    """Return the instances of traffic on a mesh, a line or a hypercube, one for each orientation that has packets.

    Parameters
    ----------
    topology : str or Topology
        ``mesh:AxB`` of any dimension, ``line:N``, or ``hypercube:K``, whose packets only set bits.
    paths : {"random", "permutation", "transpose", "bit-reverse", "hotspot"}
        Destinations: for every node any other; those of a random permutation; (x, y) to (y, x), coordinates in reverse
        order in more dimensions; the node numbers' bits reversed; node 0 with probability `share`, else any other.
    rng : numpy.random.Generator, int or None
        Random generator or seed; None for seed 0.
    route : {"random", "xy"}
        On a mesh: steps of all dimensions in random order, or all steps of the first dimension before the others.
    share : float
        For hotspot.

    Returns
    -------
    list of Instance
        To be routed one after another. Nodes are numbered as in the topology. Packets that share a row or a column with
        their destination go with those to higher numbers.

    Raises
    ------
    InputError
        If the topology is not one of the three, or the traffic is not available on it.

    Examples
    --------
    >>> [(instance.network.spec, instance.packets) for instance in oriented("line:9", "bit-reverse")]
    Traceback (most recent call last):
    obliv.errors.InputError: bit-reverse on line:9: 9 nodes are not a power of two
    >>> [(instance.network.spec, instance.packets) for instance in oriented("line:8", "bit-reverse")]
    [('array:8', 2), ('array:8,orientation=-', 2)]
    """
    network = topology_of(topology)
    sides = network.radices if all(along.kind == "line" for along in network.axes) else ()
    if network.spec.startswith("hypercube:"):
        return [instance(f"leveled-{network.spec}", paths, rng, share=share)]
    if not sides:
        raise InputError(
            f"{network.spec} has no leveled form; mesh:AxB, line:N and hypercube:K have one, and the leveled networks "
            "are butterfly, leveled-mesh, array, leveled-hypercube, multibutterfly, random-leveled, deep and unrolled "
            "ones"
        )
    if paths not in _KINDS:
        raise InputError(f"paths {paths!r} on {network.spec}: {did_you_mean(str(paths), _KINDS)}")
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
