"""Classical patterns and the worst case
=====================================

Routings are often compared under a handful of traffic patterns: transpose, tornado, bit complement. How close do
these come to the worst case?
"""

import obliv

patterns = ["uniform", "transpose", "tornado", "bit-complement", "shuffle"]
comparison = obliv.compare("torus:8x8", "dor", "romm", "valiant", traffic=patterns)
print(comparison)

# %%
# Each bar is the throughput as a share of the network's capacity. For dimension order (``dor``), transpose and
# shuffle attain the worst case. For ROMM, none of the patterns comes close to it, so that a test with patterns
# promises too much.

comparison.plot()

# %%
# The worst traffic of ROMM is a permutation like the others, but without a name. Each dot is a pair of a source and
# its destination.

romm = obliv.worst_case(obliv.routing("romm", obliv.topology("torus:8x8")))
romm.plot(kind="matrix")
