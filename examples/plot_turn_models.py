"""Turn models on a mesh
=====================

A turn model forbids some turns, so that packets that wait for each other can never form a cycle. Four such models are
checked here on a mesh, and a routing without such a rule.
"""

import obliv

mesh = obliv.topology("mesh:5x5")
models = ["west-first", "north-last", "negative-first", "odd-even"]
for name in [*models, "o1turn"]:
    verdict = obliv.deadlock(obliv.routing(name, mesh))
    print(f"{name:15} {'no deadlock' if verdict.acyclic else f'{len(verdict.cycle)} channels can wait in a cycle'}")

# %%
# O1TURN takes X first or Y first at random. Together the two orders use all eight turns, four of which close a cycle:

obliv.deadlock(obliv.routing("o1turn", mesh)).plot()

# %%
# The turn models need no virtual channels, but they use fewer of the shortest paths. West-first uses all of them to
# the east. A channel is the wider and darker, the more packets of the pair take it.

obliv.view.draw_paths(obliv.routing("west-first", mesh), "(0,0)", "(3,3)")

# %%
# To the west there is only one path, since all hops to the west must come first.

obliv.view.draw_paths(obliv.routing("west-first", mesh), "(3,3)", "(0,0)")

# %%
# Turn models were made for adaptive routing. If packets choose among the permitted hops at random, they guarantee
# less than dimension order (``dor``), which needs one virtual channel too. O1TURN guarantees the most, and needs two.

comparison = obliv.compare(mesh, "dor", *models, "o1turn", traffic=["uniform", "transpose"])
print(comparison)
comparison.plot()
