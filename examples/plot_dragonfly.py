"""Minimal or Valiant on a dragonfly
=================================

In a dragonfly, groups of routers are joined by few long links. Shortest paths between two groups share a single link.
Valiant's algorithm sends each packet through a random host first.
"""

import obliv

network = obliv.topology("dragonfly:p=2,a=3,h=1")
comparison = obliv.compare(network, "ecmp", "valiant", traffic=["uniform", "shift:6"])
print(comparison)

# %%
# Here a group has three routers with two hosts each. Under ``shift:6`` the six hosts of each group send to the next
# group, most of them over the one link between the two groups.

obliv.view.plot_loads(obliv.routing("ecmp", network), "shift:6")

# %%
# Valiant spreads the same traffic over all links between groups; the largest load is half as large.

obliv.view.plot_loads(obliv.routing("valiant", network), "shift:6")

# %%
# Six is also the exact worst case of shortest paths.

print(obliv.worst_case(obliv.routing("ecmp", network)))
