"""Routings: oblivious path distributions.  ``obliv.routing("romm", topology)`` makes one from its spec."""
