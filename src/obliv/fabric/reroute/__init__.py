"""New forwarding tables for a fabric."""
