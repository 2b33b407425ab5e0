"""Routings on fat trees by the digits or a hash of source and destination."""

from __future__ import annotations

import numpy as np

from obliv._util.rationals import integer
from obliv._util.typing import Array
from obliv.routings.trees.base import TreeRouting, last_digits, number_of
from obliv.specs.registry import register_routing
from obliv.topologies.base import Topology

__all__ = ["DModK", "Hash", "SModK", "mixed"]


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
