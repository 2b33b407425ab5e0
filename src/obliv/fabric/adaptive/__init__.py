"""Adaptive routing: what switches can do that choose among the ports of a group."""
