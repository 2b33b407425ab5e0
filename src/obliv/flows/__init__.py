"""Pair loads once more, source by source, from the paths, next hops or phases of a routing."""
