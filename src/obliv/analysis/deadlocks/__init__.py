"""Channel dependency graphs and virtual-channel schemes."""
