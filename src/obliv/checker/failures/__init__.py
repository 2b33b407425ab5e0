"""Checks of what failures do to forwarding tables: loads, lost pairs and credit loops, failure by failure."""
