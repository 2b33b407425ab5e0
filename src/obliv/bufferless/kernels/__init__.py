"""Compiled loops of the schedulers."""
