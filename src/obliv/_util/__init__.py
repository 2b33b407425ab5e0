"""Small helpers that know nothing of networks."""
