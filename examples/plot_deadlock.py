"""Deadlock and virtual channels
=============================

A routing can deadlock if its channel dependency graph has a cycle. Dimension order is safe on a mesh, but not around
the rings of a torus.
"""

import obliv

ring = obliv.routing("dor", obliv.topology("torus:5x5"))
found = obliv.deadlock(ring)
print(found)

# %%
# The cycle, as a witness:

found.plot()

# %%
# A dateline in each ring breaks it with a second virtual channel.

safe = obliv.deadlock(ring, "dateline")
print(safe)
assert not found.acyclic
assert safe.acyclic
