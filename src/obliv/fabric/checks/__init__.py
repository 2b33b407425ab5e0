"""Checks of cables, tables, routes and credit loops."""
