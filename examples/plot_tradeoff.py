"""Short paths or a good worst case
================================

Detours spread traffic, but each hop costs bandwidth and time. For every mean path length there is a best worst case:
the Pareto front of a network. ``obliv.pareto`` finds it with linear programs, and proves each point.
"""

import obliv

ring = obliv.topology("ring:8")
front = obliv.pareto(ring, points=5)
print(front)

# %%
# No routing lies above the curve. Valiant's algorithm doubles the hops; the best routing guarantees as much with
# paths that are only a sixth longer than the shortest ones.

ax = front.plot()
for name in ("dor", "valiant"):
    routing = obliv.routing(name, ring)
    hops = obliv.locality(routing).hops_over_minimal
    place = float(hops), float(obliv.worst_case(routing).throughput)
    ax.plot(*place, "D", color=obliv.view.SERIES[1], zorder=5)
    ax.annotate(name, place, (0, -14), textcoords="offset points", ha="center")
ax.set_xlim(0.9, 2.1)
