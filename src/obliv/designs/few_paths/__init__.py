"""Routings with few paths per pair, and with weights in multiples of 1/Q."""
