"""Which link must not fail?
=========================

After each failure of a link the routing is computed anew on what is left. All failures are tried and ranked by the
harm that they do.
"""

import obliv

cables = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (1, 4), (2, 7)]
places = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (3, 0), (3, 1), (2, 1)]
links = cables + [(b, a) for a, b in cables]
network = obliv.build("two rings", 8, links, positions=places)
obliv.view.plot_topology(network)

# %%
# Two rings of four nodes are joined by two links. If one of the two fails, all packets between the rings take the
# other one. No failure cuts off any pair.

failures = obliv.failures(obliv.routing("ecmp", network))
print(failures)

# %%
# Failures with the same consequences share a bar. A credit loop is a cycle of channels that can wait for each other;
# this routing has one before any failure.

failures.plot()
