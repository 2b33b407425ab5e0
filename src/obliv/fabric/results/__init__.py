"""Results about fabrics."""
