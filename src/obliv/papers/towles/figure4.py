"""Figure 4 and section 4.1: focus sets, and why the symmetry has to be the routing's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import obliv
from obliv._util.typing import NodeArray
from obliv.papers.paper import Step, Value, require
from obliv.papers.verdicts import exactly

__all__ = ["compute", "f", "g"]

_RADICES = (3, 5, 7, 9)


def compute(step: Step) -> dict[str, Value]:
    """Focus channels of the paper's examples; the largest load on those of the 5-ary 3-cube."""
    dor, romm = (
        [obliv.worst_channels(obliv.routing(name, obliv.topology(f"torus:{k}x{k}"))) for k in _RADICES]
        for name in ("dor", "romm")
    )
    step(0.5)
    note = f"At k = {', '.join(map(str, _RADICES))}."
    return {
        "4,3-ary 2-cube, DOR: focus channels": _figure(),
        "4,3-ary 2-cube, DOR: channels that f or g maps to the focus set": _mapped(),
        "k-ary 2-cube: focus channels of the network alone": Value(_most(dor, "network_classes"), note),
        "k-ary 2-cube, DOR: focus channels": Value(_most(dor, "routing_classes"), note),
        "k-ary 2-cube, ROMM: focus channels": Value(_most(romm, "routing_classes"), note),
        "5-ary 3-cube, DOR: largest load on the focus channels": _trap(),
    }


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


def _most(results: list[obliv.WorstChannels], classes: str) -> Fraction:
    return Fraction(max(getattr(result, classes) for result in results))


def _figure() -> Value:
    topology = obliv.topology("torus:4x3")
    rows = obliv.worst_channels(obliv.routing("dor", topology)).channels
    focus = {row.focus for row in rows}
    (right,), (up,) = topology.channels_between(0, 1), topology.channels_between(0, 4)
    drawn = {rows[right].focus, rows[up].focus}
    # the two channels form a focus set if every channel can be carried onto one of them
    return Value(
        Fraction(len(drawn) if drawn == focus else len(focus)),
        f"Symmetries of the routing carry all {len(rows)} channels onto these.",
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


def _trap() -> Value:
    routing = obliv.routing("dor", obliv.topology("torus:5x5x5"))
    result = obliv.worst_channels(routing)
    largest = [row.channel_load for row in result.channels if row.channel.id == row.focus]
    require(result.network_classes == 1, "the 5-ary 3-cube is edge-symmetric")
    all_channels = exactly(obliv.worst_case(routing, symmetry="off").channel_load)
    return Value(
        max(largest),
        f"The routing's symmetries leave {len(largest)} focus channels, with loads up to "
        f"{', '.join(map(str, largest))}; solving all {len(result.channels)} channels gives {all_channels}. "
        f"The topology's symmetries alone would leave 1, whose load is {result.channels[0].channel_load}: that the "
        "automorphism keeps the routing is a condition that has to be checked.",
        against=all_channels,
    )
