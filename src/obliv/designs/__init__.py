"""Designs: the best oblivious routing of a network, with a certified gap."""
