"""A torus with a twist
====================

An oblong torus wastes links: its long rings are busy while its short rings are idle. If the links that close the
short rings are shifted sideways, paths become shorter with the same number of links.
"""

import obliv

plain = obliv.topology("torus:6x3")
twisted = obliv.topology("twisted-torus:6x3,twist=3")
obliv.view.plot_topology(twisted)

# %%
# With the same routing and the same number of links, the twist gives fewer hops.

comparison = obliv.compare([plain, twisted], "ecmp", "valiant")
print(comparison)

# %%
# On the plain torus, uniform traffic loads the rings of six nodes more than those of three.

obliv.view.plot_loads(obliv.routing("ecmp", plain), "uniform")

# %%
# On the twisted torus all channels carry the same, a third less than the busiest ones before.

print(*set(obliv.routing("ecmp", twisted).pair_loads().under(obliv.traffic("uniform", twisted))))
