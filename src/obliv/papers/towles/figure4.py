"""Figure 4 and section 4.1: focus sets, and why the symmetry has to be the routing's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import obliv
from obliv._util.typing import NodeArray
from obliv.papers.focus import channel_between, focus_of
from obliv.papers.paper import Step, Value
from obliv.papers.verdicts import exactly

__all__ = ["compute", "f", "g"]

_RADICES = (3, 5, 7, 9)


def compute(step: Step) -> dict[str, Value]:
    """Focus channels of the paper's examples; the largest load on those of the 5-ary 3-cube."""
    entries = {
        "4,3-ary 2-cube, DOR: focus channels": _figure(),
        "4,3-ary 2-cube, DOR: channels that f or g maps to the focus set": _mapped(),
        "k-ary 2-cube: focus channels of the network alone": _of_the_network(),
        "k-ary 2-cube, DOR: focus channels": _on_cubes("dor"),
        "k-ary 2-cube, ROMM: focus channels": _on_cubes("romm"),
    }
    step(0.5)
    return entries | {"5-ary 3-cube, DOR: largest load on the focus channels": _trap()}


def f(torus: Any, channel: int) -> NodeArray:
    """Return the automorphism, as the image of every node, that maps a channel along x onto (0,0) -> (1,0)."""
    return _to_origin(torus, channel, 0)


def g(torus: Any, channel: int) -> NodeArray:
    """Return the automorphism, as the image of every node, that maps a channel along y onto (0,0) -> (0,1)."""
    return _to_origin(torus, channel, 1)


def _to_origin(torus: Any, channel: int, dim: int) -> NodeArray:
    """Move the channel's tail to the origin; where the channel leads backward, reflect its dimension."""
    if int(torus.dim_of[channel]) != dim:
        raise ValueError(f"channel {torus.channel_name(channel)} is not along {'xy'[dim]}")
    kx, ky = torus.radices
    tail, head = int(torus.tail[channel]), int(torus.head[channel])
    x, y = tail % kx, tail // kx
    ahead = ((x + 1) % kx + kx * y, x + kx * ((y + 1) % ky))[dim]
    along = 1 if head == ahead else -1
    sign_x, sign_y = (along, 1) if dim == 0 else (1, along)
    return np.array(
        [sign_x * (i - x) % kx + kx * (sign_y * (j - y) % ky) for j in range(ky) for i in range(kx)], np.int32
    )


def _kept(loads: Any) -> list[Any]:
    """Return the symmetries of the topology that the routing has too, compared on all pair loads."""
    return [g for g in loads.topology.generators if loads.keeps(g)]


def _figure() -> Value:
    topology = obliv.topology("torus:4x3")
    loads = obliv.routing("dor", topology).pair_loads()
    kept = _kept(loads)
    focus = focus_of(topology, kept)
    drawn = {focus[channel_between(topology, 0, 1)], focus[channel_between(topology, 0, 4)]}
    # the two channels form a focus set if every channel can be carried onto one of them
    size = len(drawn) if drawn == set(focus) else len(set(focus))
    return Value(
        Fraction(size),
        f"{len(kept)} of {len(topology.generators)} generators (a translation and a reflection in each dimension) are "
        f"symmetries of the routing; they carry all {topology.channels} channels onto these.",
    )


def _mapped() -> Value:
    torus: Any = obliv.topology("torus:4x3")
    loads = obliv.routing("dor", torus).pair_loads()
    mapped = 0
    for channel, dim in enumerate(torus.dim_of.tolist()):
        image = (f, g)[dim](torus, channel)
        ends = int(image[torus.tail[channel]]), int(image[torus.head[channel]])
        mapped += ends == ((0, 1), (0, 4))[dim] and loads.keeps(image)
    return Value(
        Fraction(mapped),
        "f moves the tail of a channel along x to (0,0), and mirrors x where the channel leads left; g does "
        "so along y. All of these maps keep the pair loads of DOR.",
        against=Fraction(torus.channels),
    )


def _of_the_network() -> Value:
    sizes = {}
    for k in _RADICES:
        topology = obliv.topology(f"torus:{k}x{k}")
        sizes[k] = len(set(focus_of(topology, topology.generators)))
    return Value(Fraction(max(sizes.values())), f"At k = {', '.join(map(str, sizes))}.")


def _on_cubes(name: str) -> Value:
    sizes = {}
    for k in _RADICES:
        loads = obliv.routing(name, obliv.topology(f"torus:{k}x{k}")).pair_loads()
        sizes[k] = len(set(focus_of(loads.topology, _kept(loads))))
    return Value(Fraction(max(sizes.values())), f"At k = {', '.join(map(str, sizes))}.")


def _trap() -> Value:
    topology = obliv.topology("torus:5x5x5")
    routing = obliv.routing("dor", topology)
    loads = routing.pair_loads()

    def largest(channel: int) -> Fraction:
        return Fraction(obliv.maximum_weight(loads.weights(channel)).value, loads.denominator)

    kept = sorted(set(focus_of(topology, _kept(loads))))
    bare = sorted(set(focus_of(topology, topology.generators)))
    all_channels = exactly(obliv.worst_case(routing, symmetry="off").channel_load)
    return Value(
        max(map(largest, kept)),
        f"The routing's symmetries leave {len(kept)} focus channels, with loads up to "
        f"{', '.join(str(largest(c)) for c in kept)}; solving all {topology.channels} channels gives "
        f"{all_channels}. The "
        f"topology's symmetries alone would leave {len(bare)}, whose load is {max(map(largest, bare))}: that the "
        "automorphism keeps the routing is a condition that has to be checked.",
        against=all_channels,
    )
