"""Maximum-weight matching and transportation on sparse integer weights."""

from obliv.matching.solve import Matching, Rates, Solution, Weights, from_entries, maximum_weight, ship

__all__ = ["Matching", "Rates", "Solution", "Weights", "from_entries", "maximum_weight", "ship"]
