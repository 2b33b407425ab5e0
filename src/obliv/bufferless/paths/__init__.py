"""Paths through leveled networks."""
