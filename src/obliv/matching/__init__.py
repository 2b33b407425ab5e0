"""Maximum-weight matching and transportation on sparse integer weights."""

from obliv.matching.shipments import Rates, Solution, ship
from obliv.matching.solve import Matching, maximum_weight
from obliv.matching.weights import Weights, from_entries

__all__ = ["Matching", "Rates", "Solution", "Weights", "from_entries", "maximum_weight", "ship"]
