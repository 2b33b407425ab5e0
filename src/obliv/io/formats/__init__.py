"""Network files, one module for each format."""
