"""Readers of SL-to-VL tables, service levels of pairs, and lanes of ports, one module per sort of data."""
