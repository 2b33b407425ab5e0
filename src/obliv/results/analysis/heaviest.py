"""The heaviest permutation in a traffic matrix."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from obliv.results.base import Channel, Result
from obliv.results.codec import PACKED, entry

__all__ = ["HeaviestPermutation"]


@dataclass(frozen=True, repr=False)
class HeaviestPermutation(Result):
    """The permutation in a traffic matrix that loads the matrix's worst channel most.

    Parameters
    ----------
    traffic : str
        Spec of the matrix.
    channel : Channel
        The channel that the matrix loads most.
    name : str
        Its name.
    channel_load, traffic_load : Fraction
        The load of that channel under the permutation, and under the matrix: the first is at least the second.
    weight : Fraction
        The share of the permutation in the matrix.
    permutation : tuple of int
        The destination of every terminal.

    Examples
    --------
    >>> import obliv
    >>> obliv.heaviest_permutation(obliv.DOR(obliv.mesh(3, 3)), "uniform")
    heaviest-permutation: dor on mesh:3x3
      traffic       uniform
      worst channel  0: (0,0) -> (1,0)
      channel load  1
      under traffic  2/3 = 0.666667
      share         1/9 = 0.111111
    """

    kind: ClassVar[str] = "heaviest-permutation"

    traffic: str = entry("", label="traffic", text=lambda result: result.traffic, column="traffic")
    channel: Channel = entry(
        Channel(0, 0, 0),
        label="worst channel",
        text=lambda result: f"{result.channel.id}: {result.name}",
        column="channel",
    )
    name: str = entry("", key="channel_name")
    channel_load: Fraction = entry(Fraction(0), label="channel load", column="channel_load")
    traffic_load: Fraction = entry(Fraction(0), label="under traffic", column="traffic_load")
    weight: Fraction = entry(Fraction(0), label="share", column="weight")
    permutation: tuple[int, ...] = entry((), codec=PACKED)
