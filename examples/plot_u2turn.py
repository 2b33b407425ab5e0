"""Throughput against path length
==============================

Valiant's algorithm guarantees half of the capacity on a mesh at the price of paths of twice the least length. U2TURN
guarantees more on a mesh of odd side, with at most two turns and shorter paths.
"""

import obliv

comparison = obliv.compare("mesh:7x7", "dor", "o1turn", "romm", "u2turn", "ival", "valiant", traffic=["uniform"])
print(comparison)

# %%
# Routings toward the upper left are better: more throughput in the worst case, and shorter paths.

comparison.plot(kind="plane")

# %%
# The same routings, worst and uniform traffic side by side.

comparison.plot()
