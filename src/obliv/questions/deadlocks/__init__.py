"""Cycles of channel dependencies, and virtual channels that break them."""
