"""The average case over random traffic."""
