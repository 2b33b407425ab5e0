"""Results of designs and of bounds on networks."""
