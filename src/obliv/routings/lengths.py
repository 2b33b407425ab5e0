"""Distributions of path lengths.

A polynomial stands for a distribution, the chance of h hops at power h: independent lengths add up as polynomials
multiply.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from obliv.routings.checks import checked_paths, require_all

if TYPE_CHECKING:
    from obliv.routings.base import Routing

__all__ = ["Lengths", "add", "of_paths", "times"]

#: A polynomial: power and coefficient.
Lengths = dict[int, Fraction]


def add(total: Lengths, more: Lengths, weight: Fraction = Fraction(1)) -> None:
    """Add a polynomial, times a weight, to another in place."""
    for h, chance in more.items():
        total[h] = total.get(h, Fraction(0)) + weight * chance


def times(one: Lengths, two: Lengths) -> Lengths:
    """Return the product of two polynomials."""
    product: Lengths = {}
    for g, first in one.items():
        for h, second in two.items():
            product[g + h] = product.get(g + h, Fraction(0)) + first * second
    return product


def of_paths(routing: Routing, source: int, destination: int) -> Lengths:
    """Return the lengths of the paths that a routing lists for a pair of nodes."""
    lengths: Lengths = {}
    for channels, chance in checked_paths(routing, source, destination):
        lengths[len(channels)] = lengths.get(len(channels), Fraction(0)) + chance
    total = sum(lengths.values(), Fraction(0))
    require_all(routing, source, destination, total)
    return lengths if total else {0: Fraction(1)}  # nothing is sent out
