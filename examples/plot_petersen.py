"""The best routing of the Petersen graph
======================================

Any two nodes of the Petersen graph are at most two links apart, with a single shortest path between them. Are these
paths the best routing, or do detours pay?
"""

import obliv

petersen = obliv.named_graph("petersen")
shortest = obliv.worst_case(obliv.routing("shortest", petersen))
print(shortest)
shortest.plot()

# %%
# The best routing comes from a linear program. Its worst case is a fraction, proved in exact arithmetic: no other
# routing has a smaller one.

best = obliv.design(petersen, exact=True)
print(best)
print(obliv.verify(best).proved)

# %%
# The price is longer paths: the mean is taken over all pairs, a node with itself included.

print("shortest paths:", obliv.locality(obliv.routing("shortest", petersen)).hops, "hops; best:", best.hops)

# %%
# The paths that it uses between two neighbors:

obliv.view.draw_paths(best.subject, 0, 1)
