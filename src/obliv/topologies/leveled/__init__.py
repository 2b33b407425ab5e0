"""Leveled networks: nodes on levels, every edge leads from a level to the next."""
