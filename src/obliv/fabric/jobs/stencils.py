"""Stencils: ranks on a grid that send to their neighbors, one direction a phase."""

from __future__ import annotations

from math import prod

import numpy as np

from obliv._util.text import shown
from obliv.errors import InputError
from obliv.fabric.jobs.collectives import Phase
from obliv.patterns.jobs import equal_sides

__all__ = ["stencil"]


def stencil(spec: str, ranks: int) -> list[Phase]:
    """Return the phases of ``stencil2d`` or ``stencil3d``, with sides and ``,periodic`` or without.

    Rank x + kx·(y + ky·z) is at (x, y, z); in each phase all ranks send to their neighbor in one direction.
    An axis with one rank has no phases.

    Raises
    ------
    InputError
        If the sides do not multiply to the number of ranks.

    Examples
    --------
    >>> [phase.name for phase in stencil("stencil2d:2x4", 8)]
    ['+x', '-x', '+y', '-y']
    """
    name, _, options = spec.partition(":")
    dims = int(name[-2])
    text, _, more = options.partition(",")
    if text == "periodic":
        text, more = "", text
    example = "x".join(map(str, equal_sides(ranks, dims)))
    if more not in ("", "periodic"):
        raise InputError(f"{shown(spec)}: {shown(more)} is unknown: write {name}:{example},periodic")
    words = text.split("x") if text else example.split("x")
    if len(words) != dims or not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise InputError(f"{shown(spec)}: write {dims} sides, such as {name}:{example}")
    sides = [int(word) for word in words]
    if prod(sides) != ranks:
        raise InputError(f"{shown(spec)}: {text} are {prod(sides):,} ranks, the job has {ranks:,}: try {example}")
    return [
        phase
        for axis, stride in enumerate(int(prod(sides[:axis])) for axis in range(dims))
        if sides[axis] > 1
        for phase in _along(axis, stride, sides[axis], ranks, bool(more))
    ]


def _along(axis: int, stride: int, side: int, ranks: int, periodic: bool) -> list[Phase]:
    """Return the phases forth and back along an axis."""
    every = np.arange(ranks)
    at = every // stride % side
    source = every if periodic else every[at < side - 1]
    target = source + np.where(at[source] < side - 1, stride, stride * (1 - side))
    ones = np.ones(len(source), np.int64)
    letter = "xyz"[axis]
    return [
        Phase(f"+{letter}", lambda: (source, target, ones)),
        Phase(f"-{letter}", lambda: (target, source, ones)),
    ]
