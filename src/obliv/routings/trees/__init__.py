"""Routings on fat trees: each names its paths by number."""
