"""Compiled loops of the checker."""
