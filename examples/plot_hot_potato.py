"""Hot-potato routing, step by step
================================

Routers without buffers must send on every packet at once. If two packets need the same channel, one of them is
deflected: it goes back and tries again.
"""

import obliv

instance = obliv.bufferless.instance("butterfly:5", "random", rng=4)
print(instance)

# %%
# In the space-time diagram, time runs to the right and packets climb from level to level. Where a line turns down,
# its packet is deflected.

schedule = obliv.bufferless.schedule(instance, "hot-potato", priority="age", rng=1)
print(schedule)
schedule.plot()

# %%
# When packets are delivered: all those that were never deflected arrive at the same step.

obliv.view.delivery_times(schedule)
