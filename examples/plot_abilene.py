"""Equal-cost multipath on Abilene
===============================

Abilene was the backbone of Internet2, the research network of the United States: 11 routers and 14 links. Traffic of
such networks is hard to predict. By how much can ECMP, which splits packets over shortest paths, be worse than the
best routing for the same traffic?
"""

import obliv

# %%
# The routers at their longitude and latitude, and the links of February 2005 (Internet2's map, as recorded by the
# Internet Topology Zoo: S. Knight et al., IEEE JSAC 29(9), 2011). All links count the same here.

places = {
    "Seattle": (-122.3, 47.6),
    "Sunnyvale": (-122.0, 37.4),
    "Los Angeles": (-118.2, 34.1),
    "Denver": (-105.0, 39.7),
    "Kansas City": (-94.6, 39.1),
    "Houston": (-95.4, 29.8),
    "Chicago": (-87.6, 41.9),
    "Indianapolis": (-86.2, 39.8),
    "Atlanta": (-84.4, 33.7),
    "Washington": (-77.0, 38.9),
    "New York": (-74.0, 40.7),
}
cables = """
Seattle-Sunnyvale, Seattle-Denver, Sunnyvale-Los Angeles, Sunnyvale-Denver, Los Angeles-Houston, Denver-Kansas City,
Kansas City-Houston, Kansas City-Indianapolis, Houston-Atlanta, Chicago-Indianapolis, Chicago-New York,
Indianapolis-Atlanta, Atlanta-Washington, New York-Washington
"""
number = {name: v for v, name in enumerate(places)}
ends = [tuple(number[name.strip()] for name in cable.split("-")) for cable in cables.split(",")]
links = ends + [(b, a) for a, b in ends]
abilene = obliv.build("abilene", 11, links, labels=list(places), positions=list(places.values()))
obliv.view.plot_topology(abilene)

# %%
# The ratio is exact: no traffic whatever makes it larger, and the traffic below attains it.

ecmp = obliv.routing("ecmp", abilene)
result = obliv.ratio(ecmp)
print(result)

# %%
# The demands of this traffic, the largest first:

for source, destination, amount in sorted(result.traffic, key=lambda row: -row[2])[:6]:
    print(f"{abilene.labels[source]} -> {abilene.labels[destination]}: {float(amount):.3f}")

# %%
# ECMP sends all of it over one link. The best routing for this traffic loads no link by more than one. (A router may
# send at most one packet per cycle in ``obliv.matrix``, so we take a third of the traffic, and three times its
# loads.)

rows = [[0] * 11 for _ in range(11)]
for source, destination, amount in result.traffic:
    rows[source][destination] = amount / 3
loads = [3 * load for load in ecmp.pair_loads().under(obliv.matrix(rows))]
obliv.view.draw_loads(abilene, loads)

# %%
# An electrical flow spreads packets over all paths, as a current does between two nodes. Its ratio is better, and
# nearly exact: it is known between two bounds.

print(obliv.ratio(obliv.routing("electrical", abilene)))
