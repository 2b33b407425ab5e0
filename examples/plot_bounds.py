"""How good can a routing of this network be?
==========================================

Before you compare routings, ask what the network allows. ``obliv.bounds`` answers for all routings at once, with
proofs: how much uniform traffic fits, what the best oblivious routing guarantees, and what adaptive routing could
guarantee.
"""

import matplotlib.pyplot as plt

import obliv

network = obliv.topology("dragonfly:p=1,a=3,h=1")
bounds = obliv.bounds(network)
print(bounds)

# %%
# The bounds are loads of the busiest channel, so less is better. Two routings beside them:

names = ["ecmp", "valiant"]
loads = [obliv.worst_case(obliv.routing(name, network)).channel_load for name in names]
figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
bars = ax.barh(names, [float(load) for load in loads], height=0.5, color=obliv.view.SERIES[0])
ax.bar_label(bars, [str(load) for load in loads], padding=4)
ax.axvline(float(bounds.oblivious), color="black", linestyle="--")
ax.annotate(f"best routing: {bounds.oblivious}", (float(bounds.oblivious), 1.45), ha="center", annotation_clip=False)
ax.set(xlim=(0, 3.4), ylim=(-0.5, 1.4), xlabel="worst-case channel load")

# %%
# On this network the best oblivious routing is as good as any adaptive one: for some permutation, no choice of routes
# loads channels less than that.

print(bounds.price)
