"""The worst traffic of a routing
==============================

Dimension order sends all packets between two nodes on one path, ROMM draws an intermediate node in the rectangle
between them. Both are minimal; how bad can traffic get? The answer is exact: a permutation that attains the load, and
prices that prove that no admissible traffic exceeds it.
"""

import obliv

mesh = obliv.topology("mesh:8x8")
dor = obliv.worst_case(obliv.routing("dor", mesh), certificate=True)
romm = obliv.worst_case(obliv.routing("romm", mesh), certificate=True)
print(romm)

# %%
# Orange arrows are the pairs of the worst traffic that cross the worst channel. In a notebook ``romm`` shows this
# picture by itself; point at any channel to see its own worst traffic.

romm.plot()

# %%
# For dimension order the worst pairs turn at one node.

dor.plot()

# %%
# Randomizing did not help: ROMM guarantees about as much as dimension order.

print(f"dimension order {float(dor.fraction_of_capacity):.3f} of capacity, ROMM {float(romm.fraction_of_capacity):.3f}")
assert obliv.verify(romm).proved
