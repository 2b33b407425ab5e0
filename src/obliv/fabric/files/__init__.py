"""Files of InfiniBand tools: one module a dialect."""
