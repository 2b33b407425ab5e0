"""Distributions of path lengths.

A polynomial stands for a distribution, the chance of h hops at power h: independent lengths add up as polynomials
multiply.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["Lengths", "add", "times"]

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
