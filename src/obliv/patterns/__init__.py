"""Traffic matrices, permutations and patterns.  ``obliv.traffic("tornado", topology)`` makes one from its spec."""

from obliv._util.lazy import refuse_calls

refuse_calls(__name__, "@obliv.register_pattern(NAME)")
