"""Compiled loops of fabrics."""
