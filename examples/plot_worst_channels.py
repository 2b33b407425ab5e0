"""The worst case of every channel
===============================

The worst case of a network is that of its worst channel. Each other channel has a worst case too, under traffic of
its own. All of them together show where a network is weak.
"""

import obliv

mesh = obliv.topology("mesh:8x8")
romm = obliv.worst_channels(obliv.routing("romm", mesh))
print(f"from {float(min(row.channel_load for row in romm.channels)):.2f} to {float(romm.channel_load):.2f}")

# %%
# The color of a channel is the largest load that any admissible traffic can put on it. Unlike the loads of a single
# traffic pattern, these loads are not attained at the same time. For ROMM the middle of the mesh is weak.

romm.plot()

# %%
# Dimension order has about the same worst case in other places. All packets turn from X to Y, so the channels toward
# the edges of X and away from the edges of Y are weak.

obliv.worst_channels(obliv.routing("dor", mesh)).plot()
