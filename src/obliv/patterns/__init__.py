"""Traffic matrices, permutations and patterns.  ``obliv.traffic("tornado", topology)`` makes one from its spec."""
