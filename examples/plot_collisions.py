"""The colliding flows
================

Switches choose one of several equal paths by a hash of the packet's header. All packets of a flow take one path, and
whether two large flows meet is a matter of luck. The chances can be computed.
"""

import obliv

tree = obliv.topology("fattree:8,2")
one = obliv.collisions(tree, "shift:4")
print(one)

# %%
# With even splits no link of the fat tree carries more than one. With one flow for each pair, three or four flows
# usually meet on some link. The curve is the probability that the largest load stays at or below a value.

one.plot()

# %%
# With sixteen flows for each pair the luck evens out, but it does not vanish. Ten flows keep the largest load at two
# or below with a probability of 99 %.

many = obliv.collisions(tree, "shift:4", flows=16, guarantee=["2@0.99"])
print(many)
many.plot()
