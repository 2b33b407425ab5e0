"""Results on InfiniBand fabrics."""
