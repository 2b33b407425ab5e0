"""Single paths on a fat tree
==========================

D-mod-k gives every destination a root of its own. Its oblivious performance ratio, the largest load over that of the
best routing of the same traffic, is m/2 on FT(m, n). OSRM2 attains the lower bound of about √(m/2) for single paths.
"""

import obliv

tree = obliv.topology("fattree:8,2")
for name in ("dmodk", "osrm2"):
    print(obliv.ratio(obliv.routing(name, tree)))

# %%
# The worst traffic of D-mod-k sends the hosts of one leaf to destinations with the same root.

obliv.worst_case(obliv.routing("dmodk", tree)).plot()

# %%
# That of OSRM2 can overload a link only half as much.

obliv.worst_case(obliv.routing("osrm2", tree)).plot()
