"""Traffic matrices, permutations and patterns."""

from obliv.traffic.traffic import Traffic, matrix, permutation

__all__ = ["Traffic", "matrix", "permutation"]
