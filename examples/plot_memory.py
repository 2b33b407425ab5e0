"""Memory controllers on a chip
============================

A chip has 7 × 6 cores on a mesh, and two memory controllers at its edges. Half of all packets go to the controllers.
Then the network is not limited by its channels alone.
"""

import obliv

mesh = obliv.topology("mesh:7x6")
left, right = mesh.node((0, 2)), mesh.node((6, 3))
pattern = f"hot-nodes:{left},{right},share=1/2"
for name in ("dor", "o1turn"):
    print(obliv.throughput(obliv.routing(name, mesh), pattern))

# %%
# The answer names the bottleneck: a controller receives at most one packet per cycle, whatever the routing. The
# channels into the controllers are loaded most.

obliv.view.plot_loads(obliv.routing("dor", mesh), pattern)

# %%
# Give each controller a port that takes four packets per cycle. Now a channel is the limit, and the routing matters.


def with_ports(*nodes):
    """Return the mesh with wide ports at some nodes."""
    return mesh.with_rates([1] * 42, [4 if node in nodes else 1 for node in mesh.terminals])


wide = with_ports(left, right)
print(obliv.throughput(obliv.routing("dor", wide), pattern))
print(obliv.throughput(obliv.routing("o1turn", wide), pattern))

# %%
# Inside the chip a controller has a fourth neighbor, and packets have shorter ways.

inner = mesh.node((2, 2)), mesh.node((4, 3))
inside = f"hot-nodes:{inner[0]},{inner[1]},share=1/2"
print(obliv.throughput(obliv.routing("o1turn", with_ports(*inner)), inside))
obliv.view.plot_loads(obliv.routing("o1turn", with_ports(*inner)), inside)
