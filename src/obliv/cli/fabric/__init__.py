"""``obliv fabric``: real InfiniBand fabrics, one module a sub-verb."""
