"""Packets without buffers
=======================

On a leveled network every packet has a path. Without buffers, a packet that loses a conflict is deflected. A schedule
contains every move, and the verifier follows all of them.
"""

import obliv

instance = obliv.bufferless.instance("butterfly:5", "hotspot", rng=1, share=0.2)
print(instance)

# %%
# The direct algorithm finds injection times without any conflict.

direct = obliv.bufferless.schedule(instance, "direct")
print(direct)
direct.plot()

# %%
# Hot-potato routing needs no plan; packets are deflected on the way.

hot = obliv.bufferless.schedule(instance, "hot-potato", priority="age", rng=1)
print(hot.makespan, "steps with", hot.deflections, "deflections, at least", hot.lower_bound)
hot.plot()
assert direct.verified
assert hot.verified
