"""Chance: one keyword ``rng`` for generators and seeds."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np

from obliv._util.files import DIGITS
from obliv.errors import InputError

__all__ = ["Rng", "drawn_seed", "generator", "seed_of", "within_word"]

#: A generator, a seed (any integer, NumPy's too), or None for seed 0.
Rng = np.random.Generator | SupportsIndex | None


def generator(rng: Any) -> np.random.Generator:
    """Return the random generator that an ``rng`` argument stands for.

    Examples
    --------
    >>> import numpy as np
    >>> int(generator(np.int64(7)).integers(100)) == int(generator(7).integers(100))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))


def seed_of(rng: Any) -> int | None:
    """Return the seed that an ``rng`` argument stands for; None for a generator."""
    if isinstance(rng, np.random.Generator):
        return None
    if rng is None:
        return 0
    try:
        if isinstance(rng, bool | np.bool_):
            raise TypeError
        seed = operator.index(rng)
    except TypeError:
        raise InputError(f"rng={rng!r}: use a random generator, an integer seed, or None for seed 0") from None
    if abs(seed) >= 10**DIGITS:
        raise InputError(f"a random seed has at most {DIGITS:,} digits, as other numbers that obliv writes")
    if seed < 0:
        raise InputError(f"rng={seed}: a random seed must be 0 or more")
    return seed


def drawn_seed(rng: Any, below: int = 2**62) -> int:
    """Return the seed that an ``rng`` argument names; a generator draws one.

    Examples
    --------
    >>> drawn_seed(np.int64(7)), drawn_seed(None)
    (7, 0)
    """
    seed = seed_of(rng)
    return int(rng.integers(below)) if seed is None else seed


def within_word(seed: int, bits: int = 63) -> int:
    """Return a seed of at most `bits` bits: a larger one is hashed, others stay as they are.

    Examples
    --------
    >>> within_word(7), within_word(2**70) < 2**63
    (7, True)
    """
    return seed if seed < 2**bits else int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) >> (64 - bits)
