"""Positions of nodes in a picture."""
