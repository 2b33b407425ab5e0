"""Pair loads of routings: stored, closed-form, relative, added up."""

from obliv.loads.pair_loads import PairLoads

__all__ = ["PairLoads"]
