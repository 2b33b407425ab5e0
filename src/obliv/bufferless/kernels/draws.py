"""Kernels: counter-based random numbers, so that the same draw always gives the same number.

All numbers are below 2^31, so that products fit 63 bits and the interpreter and machine code agree.
"""

from __future__ import annotations

from obliv.kernels import kernel

__all__ = ["color_of", "mix", "rank_of", "salt_of"]

BITS = 31
MASK = 2**31 - 1


@kernel
def mix(number: int) -> int:
    """Return a scrambled number below 2^31; a permutation of those numbers."""
    number = (int(number) + 0x1E3779B9) & MASK
    number = ((number ^ (number >> 16)) * 0x7FEB352D) & MASK
    number = ((number ^ (number >> 15)) * 0x46CA68B5) & MASK
    return number ^ (number >> 16)


@kernel
def salt_of(seed: int, phase: int, part: int, turn: int) -> int:
    """Return the number that all draws of a round start from."""
    return int(mix(mix(mix(seed ^ phase) ^ part) ^ turn))


@kernel
def color_of(salt: int, packet: int, boats: int) -> int:
    """Return the color that a packet draws, uniform in 1..boats."""
    return 1 + ((int(mix(salt ^ packet)) * boats) >> BITS)


@kernel
def rank_of(salt: int, packet: int, place: int) -> int:
    """Return a packet's rank among those that meet at a place: a level, or the number of a move."""
    return int(mix(mix(salt ^ packet) ^ place))
