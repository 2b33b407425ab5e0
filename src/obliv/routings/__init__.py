"""Routings: oblivious path distributions.  ``obliv.routing("romm", topology)`` makes one from its spec."""

from obliv._util.lazy import refuse_calls

refuse_calls(__name__, "@obliv.register_routing(NAME)")
