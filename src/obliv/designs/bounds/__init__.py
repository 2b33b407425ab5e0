"""Lower bounds: on the worst case of any routing, on the congestion of one traffic, and through cuts."""
