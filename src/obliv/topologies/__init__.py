"""Topologies: networks as values.  ``obliv.topology("torus:9x9")`` makes one from its spec."""
