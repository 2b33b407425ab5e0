"""Kernels: permutations, all or at random, and the largest channel load of each.

A word of 64 bits holds the loads of several channels side by side, in lanes wide enough that no permutation makes one
overflow, with a bit to spare; adding words adds all lanes at once.  An entry names a word (its low `shift` bits) and a
value (the bits above); a pair of terminals p = source · n + destination adds its entries on top of what `base` holds
for every permutation.  Every pair has `width` entries, 2 to 4, in `first`; where that is too few, the rest follow in
`rest`, by fours ``rest_ptr[p] .. rest_ptr[p + 1]``.  So nearly all branches go the same way for every pair; with a
loop over as many entries as each pair has, its mispredicted ends cost more than the sums.  The channels of a group are
the lanes of the sum of `depth` words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class PairEntries(NamedTuple):
    """The loads of all pairs in words of several channels, as the module describes them."""

    base: Array
    width: int
    first: Array
    rest_ptr: Array
    rest: Array
    shift: int
    value: Array
    depth: int
    group: Array
    bits: int
    lanes: int


@kernel
def _add(words: Array, value: Array, entry: Any, shift: Any, low: Any) -> None:
    words[np.uint64(entry) & low] += value[np.uint64(entry) >> shift]


@kernel
def largest_loads(images: Array, pairs: PairEntries, words: Array, out: Array) -> None:
    """Find the largest load of each row of `images`, a permutation.

    `words` is scratch for as many words as the base has.
    """
    base, width, first, rest_ptr, rest, shift, value, depth, group, bits, lanes = pairs
    count, n = images.shape
    above = np.uint64(shift)
    low = (np.uint64(1) << above) - np.uint64(1)
    full = (1 << (bits + 1)) - 1
    ones = 0
    for _ in range(lanes):
        ones = (ones << (bits + 1)) | 1
    spare = ones << bits
    late = np.empty(n + 1, np.int64)  # the pairs with more entries
    some_late = len(rest) > 0
    for p in range(count):
        for k in range(len(base)):
            words[k] = base[k]
        end = 0
        for i in range(n):
            pair = i * n + images[p, i]
            at = pair * width
            _add(words, value, first[at], above, low)
            _add(words, value, first[at + 1], above, low)
            if width > 2:
                _add(words, value, first[at + 2], above, low)
            if width > 3:
                _add(words, value, first[at + 3], above, low)
            if some_late:
                late[end] = pair
                end += rest_ptr[pair + 1] > rest_ptr[pair]
        for i in range(end):
            for four in range(rest_ptr[late[i]], rest_ptr[late[i] + 1]):
                _add(words, value, rest[4 * four], above, low)
                _add(words, value, rest[4 * four + 1], above, low)
                _add(words, value, rest[4 * four + 2], above, low)
                _add(words, value, rest[4 * four + 3], above, low)
        top = 0  # in each lane the largest of all groups
        for g in range(len(group) // depth):
            total = 0
            for k in range(g * depth, g * depth + depth):
                total += words[group[k]]
            greater = ((top | spare) - total) & spare
            top = total ^ ((total ^ top) & (greater - (greater >> bits)))
        best = 0
        for _ in range(lanes):
            best = max(best, top & full)
            top >>= bits + 1
        out[p] = best


@kernel
def random_permutations(seed: int, block: int, images: Array) -> None:
    """Fill the rows of `images` with random permutations; seed and block alone decide which.

    Numbers come from splitmix64, two of 32 bits a step.  Each gives up to three exchanges of the shuffle without bias:
    the whole part of number · size is one, what is left over serves the next size, and the last leftover says, as it
    does for a single size, when to draw anew (Brackett-Rozinsky and Lemire, Batched ranged random integers, 2024).
    """
    gamma = np.uint64(0x9E3779B97F4A7C15)
    fraction = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    one = np.uint64(1)
    state = np.uint64(seed)
    for salt in (np.uint64(block), np.uint64(0)):  # so that neighboring seeds and blocks have nothing in common
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> half)) + salt * gamma
    count, n = images.shape
    left = 0
    pool = np.uint64(0)
    for p in range(count):
        for i in range(n):
            images[p, i] = i
        i = n - 1
        while i > 0:
            three = i < 1600  # then three sizes multiply to less than 2^32
            size = np.uint64(i + 1)
            second = size - one if three else one
            third = second - one if three and i > 1 else one
            whole = size * second * third
            while True:
                if left == 0:
                    state += gamma
                    pool = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    pool = (pool ^ (pool >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    pool = pool ^ (pool >> np.uint64(31))
                    left = 2
                a = (pool & fraction) * size
                b = (a & fraction) * second
                c = (b & fraction) * third
                pool = pool >> half
                left -= 1
                over = c & fraction
                if over >= whole or over >= (np.uint64(1 << 32) - whole) % whole:
                    break
            j = np.int64(a >> half)
            other = images[p, j]
            images[p, j] = images[p, i]
            images[p, i] = other
            if not three:
                i -= 1
                continue
            if i > 1:
                j = np.int64(b >> half)
                other = images[p, j]
                images[p, j] = images[p, i - 1]
                images[p, i - 1] = other
            if i > 2:
                j = np.int64(c >> half)
                other = images[p, j]
                images[p, j] = images[p, i - 2]
                images[p, i - 2] = other
            i -= 3


@kernel
def all_permutations(images: Array) -> None:
    """Fill the n! rows of `images` with all permutations, by Heap's exchanges."""
    n = images.shape[1]
    count = np.zeros(n + 1, np.int64)
    for i in range(n):
        images[0, i] = i
    k = 1
    i = 1
    while i < n:
        if count[i] < i:
            for other in range(n):
                images[k, other] = images[k - 1, other]
            j = 0 if i % 2 == 0 else count[i]
            images[k, j] = images[k - 1, i]
            images[k, i] = images[k - 1, j]
            k += 1
            count[i] += 1
            i = 1
        else:
            count[i] = 0
            i += 1
