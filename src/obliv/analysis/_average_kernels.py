"""Kernels: random permutations and the largest channel load of each, in one go.

A pair of terminals puts short vectors of loads onto rows: entries ``ptr[p] .. ptr[p + 1]`` of `vector` and `row` for
pair p = source · n + destination.  Rows are as wide as a vector; a group of channels is a sum of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv.kernels import kernel

__all__ = ["WIDTH", "all_permutations", "random_permutations"]

Array = Any

WIDTH = 16  # entries a vector is padded to; a constant, so that the loops over it become single instructions


@kernel
def _largest(
    n: int,
    image: Array,
    ptr: Array,
    vector: Array,
    row: Array,
    vectors: Array,
    rows: Array,
    group_ptr: Array,
    group_row: Array,
    total: Array,
) -> int:
    for r in range(rows.shape[0]):
        for t in range(WIDTH):
            rows[r, t] = 0
    for i in range(n):
        pair = i * n + image[i]
        for q in range(ptr[pair], ptr[pair + 1]):
            v = vector[q]
            r = row[q]
            for t in range(WIDTH):
                rows[r, t] += vectors[v, t]
    for t in range(WIDTH):
        total[1, t] = 0
    for g in range(len(group_ptr) - 1):
        for t in range(WIDTH):
            total[0, t] = 0
        for k in range(group_ptr[g], group_ptr[g + 1]):
            r = group_row[k]
            for t in range(WIDTH):
                total[0, t] += rows[r, t]
        for t in range(WIDTH):
            total[1, t] = max(total[1, t], total[0, t])
    best = 0
    for t in range(WIDTH):
        best = max(best, total[1, t])
    return best


@kernel
def random_permutations(
    seed: int,
    block: int,
    n: int,
    ptr: Array,
    vector: Array,
    row: Array,
    vectors: Array,
    group_ptr: Array,
    group_row: Array,
    image: Array,
    rows: Array,
    total: Array,
    out: Array,
) -> None:
    """Largest loads of ``len(out)`` random permutations; seed and block alone decide which (xorshift64*, unbiased)."""
    state = np.uint64(seed) ^ (np.uint64(block + 1) * np.uint64(0x9E3779B97F4A7C15))
    for _ in range(2):  # splitmix64, so that neighbouring blocks have nothing in common
        state += np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    if state == np.uint64(0):
        state = np.uint64(1)
    low_bits = np.uint64(0xFFFFFFFF)
    for i in range(n):
        image[i] = i
    for k in range(len(out)):
        for i in range(n - 1, 0, -1):
            size = np.uint64(i + 1)
            while True:
                state ^= state >> np.uint64(12)
                state ^= state << np.uint64(25)
                state ^= state >> np.uint64(27)
                product = ((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)) * size
                low = product & low_bits
                if low >= size or low >= (np.uint64(1 << 32) - size) % size:
                    break
            j = np.int64(product >> np.uint64(32))
            other = image[j]
            image[j] = image[i]
            image[i] = other
        out[k] = _largest(n, image, ptr, vector, row, vectors, rows, group_ptr, group_row, total)


@kernel
def all_permutations(
    n: int,
    ptr: Array,
    vector: Array,
    row: Array,
    vectors: Array,
    group_ptr: Array,
    group_row: Array,
    image: Array,
    rows: Array,
    total: Array,
    out: Array,
) -> None:
    """Largest loads of all n! permutations, by Heap's exchanges."""
    count = np.zeros(n + 1, np.int64)
    for i in range(n):
        image[i] = i
    out[0] = _largest(n, image, ptr, vector, row, vectors, rows, group_ptr, group_row, total)
    k = 1
    i = 1
    while i < n:
        if count[i] < i:
            j = 0 if i % 2 == 0 else count[i]
            other = image[j]
            image[j] = image[i]
            image[i] = other
            out[k] = _largest(n, image, ptr, vector, row, vectors, rows, group_ptr, group_row, total)
            k += 1
            count[i] += 1
            i = 1
        else:
            count[i] = 0
            i += 1
