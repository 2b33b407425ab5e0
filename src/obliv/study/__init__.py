"""Studies: many cells of topologies, routings and measures, in a store that loses nothing."""

from obliv._util.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
