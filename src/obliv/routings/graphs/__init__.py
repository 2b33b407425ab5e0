"""Routings on any network: shortest paths, up*/down*, electrical flows, decomposition trees."""
