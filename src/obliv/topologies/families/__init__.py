"""Families of networks, one module each, which register the names of specs."""
