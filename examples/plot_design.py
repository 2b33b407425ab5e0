"""Designing a routing
===================

``obliv.design`` solves a linear program for the routing with the least worst-case load, and proves how much better
any other could be. Here the load is exact and the optimum.
"""

import obliv

best = obliv.design("mesh:3x3")
print(best)

# %%
# Longer paths buy throughput. The Pareto front has the best worst case for every mean path length.

front = obliv.pareto("mesh:3x3")
print(front)
front.plot()

# %%
# The routing is a routing like any other.

print(obliv.throughput(best.subject, "uniform", "transpose"))
assert obliv.verify(best).proved
