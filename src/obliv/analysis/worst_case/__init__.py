"""The exact worst case: channels, symmetries, certificates."""
