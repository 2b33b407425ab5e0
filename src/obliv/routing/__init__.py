"""Routings: oblivious path distributions on a topology."""

from obliv.routing.routing import HopRouting, Mix, Routing

__all__ = ["HopRouting", "Mix", "Routing"]
