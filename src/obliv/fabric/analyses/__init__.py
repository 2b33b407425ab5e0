"""Analyses of forwarding tables."""
