"""Topologies: networks as values."""

from obliv.topology.topology import Topology, build

__all__ = ["Topology", "build"]
