"""Fabrics generated from topologies."""
