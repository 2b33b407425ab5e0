"""Oblivious routing on a random graph
===================================

A network without regular structure has no dimensions to order. Four methods fit any network: shortest paths (ECMP),
electrical flows, Räcke's random trees, and Valiant's algorithm.
"""

import obliv

network = obliv.topology("random-regular:n=10,d=3,seed=1")
names = ["ecmp", "electrical", "raecke:trees=4,seed=1", "valiant"]

# %%
# ECMP has only one shortest path between these two nodes.

obliv.view.draw_paths(obliv.routing("ecmp", network), 0, 7)

# %%
# An electrical flow uses many paths, and favors short ones.

obliv.view.draw_paths(obliv.routing("electrical", network), 0, 7)

# %%
# Several paths mean longer paths. Here they pay: higher up is the better worst case.

comparison = obliv.compare(network, *names)
print(comparison)
comparison.plot(kind="plane")
