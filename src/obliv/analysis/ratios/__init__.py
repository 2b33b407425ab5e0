"""Oblivious performance ratios on fat trees."""
