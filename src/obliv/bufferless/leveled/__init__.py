"""Leveled networks, and instances of packets with paths on them."""
