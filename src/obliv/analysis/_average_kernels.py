"""Kernels: random permutations and the largest channel load of each, in one go.

A word of 64 bits holds the loads of several channels side by side, in lanes wide enough that no permutation makes one
overflow, with a bit to spare; adding words adds all lanes at once.  A pair of terminals adds ``value[number[q]]`` to
word ``word[q]`` for its entries q, ``ptr[p] .. ptr[p + 1]`` with p = source · n + destination, on top of what `base`
holds for every permutation.  The channels of a group are the lanes of a sum of words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv.kernels import kernel

__all__ = ["all_permutations", "random_permutations"]

Array = Any


@kernel
def _largest(
    n: int,
    image: Array,
    base: Array,
    ptr: Array,
    word: Array,
    number: Array,
    value: Array,
    group_ptr: Array,
    group_word: Array,
    bits: int,
    lanes: int,
    words: Array,
) -> int:
    for k in range(len(base)):
        words[k] = base[k]
    for i in range(n):
        pair = i * n + image[i]
        for q in range(ptr[pair], ptr[pair + 1]):
            words[word[q]] += value[number[q]]
    ones = 0
    for _ in range(lanes):
        ones = (ones << (bits + 1)) | 1
    spare = ones << bits
    best = 0
    short = ((1 << bits) - 1) * ones  # what takes a lane to its spare bit once it exceeds the best
    for g in range(len(group_ptr) - 1):
        total = 0
        for k in range(group_ptr[g], group_ptr[g + 1]):
            total += words[group_word[k]]
        if (total + short) & spare != 0:
            for _ in range(lanes):
                best = max(best, total & ((1 << (bits + 1)) - 1))
                total >>= bits + 1
            short = ((1 << bits) - 1 - best) * ones
    return best


@kernel
def random_permutations(
    seed: int,
    block: int,
    n: int,
    base: Array,
    ptr: Array,
    word: Array,
    number: Array,
    value: Array,
    group_ptr: Array,
    group_word: Array,
    bits: int,
    lanes: int,
    image: Array,
    words: Array,
    out: Array,
) -> None:
    """Largest loads of ``len(out)`` random permutations; seed and block alone decide which.

    Numbers come from splitmix64, two of 32 bits a step, and are brought into range without bias (Lemire).
    """
    gamma = np.uint64(0x9E3779B97F4A7C15)
    low_bits = np.uint64(0xFFFFFFFF)
    state = np.uint64(seed)
    for salt in (np.uint64(block), np.uint64(0)):  # so that neighbouring seeds and blocks have nothing in common
        state = (state ^ (state >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        state = (state ^ (state >> np.uint64(32))) + salt * gamma
    left = 0
    pool = np.uint64(0)
    for i in range(n):
        image[i] = i
    for k in range(len(out)):
        for i in range(n - 1, 0, -1):
            size = np.uint64(i + 1)
            while True:
                if left == 0:
                    state += gamma
                    pool = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    pool = (pool ^ (pool >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    pool = pool ^ (pool >> np.uint64(31))
                    left = 2
                product = (pool & low_bits) * size
                pool = pool >> np.uint64(32)
                left -= 1
                low = product & low_bits
                if low >= size or low >= (np.uint64(1 << 32) - size) % size:
                    break
            j = np.int64(product >> np.uint64(32))
            other = image[j]
            image[j] = image[i]
            image[i] = other
        out[k] = _largest(n, image, base, ptr, word, number, value, group_ptr, group_word, bits, lanes, words)


@kernel
def all_permutations(
    n: int,
    base: Array,
    ptr: Array,
    word: Array,
    number: Array,
    value: Array,
    group_ptr: Array,
    group_word: Array,
    bits: int,
    lanes: int,
    image: Array,
    words: Array,
    out: Array,
) -> None:
    """Largest loads of all n! permutations, by Heap's exchanges."""
    count = np.zeros(n + 1, np.int64)
    for i in range(n):
        image[i] = i
    out[0] = _largest(n, image, base, ptr, word, number, value, group_ptr, group_word, bits, lanes, words)
    k = 1
    i = 1
    while i < n:
        if count[i] < i:
            j = 0 if i % 2 == 0 else count[i]
            other = image[j]
            image[j] = image[i]
            image[i] = other
            out[k] = _largest(n, image, base, ptr, word, number, value, group_ptr, group_word, bits, lanes, words)
            k += 1
            count[i] += 1
            i = 1
        else:
            count[i] = 0
            i += 1
