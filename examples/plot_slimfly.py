"""Slim Fly: few hops, few paths
=============================

In a Slim Fly any two routers are at most two hops apart, with nearly the least number of links that allows this. But
there are few shortest paths to choose from.
"""

import obliv

network = obliv.topology("slimfly:5")
obliv.view.plot_topology(network)

# %%
# This one is the graph of Hoffman and Singleton, where each pair has a single shortest path. So ECMP has no choice.
# In the worst case, Valiant's detours pay: they guarantee almost four times the throughput.

comparison = obliv.compare(network, "shortest", "ecmp", "valiant", traffic=["uniform"])
print(comparison)
comparison.plot(kind="plane")

# %%
# The worst traffic of shortest paths needs only two pairs, which share a channel.

obliv.worst_case(obliv.routing("shortest", network)).plot()
