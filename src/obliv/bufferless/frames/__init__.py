"""The centralized and the distributed frame algorithm."""
