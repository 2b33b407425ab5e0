"""Bars, lines and planes of comparisons."""
