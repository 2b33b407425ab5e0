"""Fabrics made from topologies."""
