"""Pair loads of routings: stored, closed-form, relative, added up."""

from obliv.loads.base import PairLoads

__all__ = ["PairLoads"]
