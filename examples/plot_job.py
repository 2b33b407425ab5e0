"""A job on a fat tree
===================

A collective operation of MPI runs in phases, each with its own pairs of ranks. If the scheduler places ranks on
random hosts, some phases are slower than others. The heat map shows which cable is loaded in which phase.
"""

import numpy as np

import obliv
from obliv import fabric

routing = fabric.from_routing(obliv.routing("dmodk", obliv.topology("fattree:8,2")))
hosts = [routing.topology.labels[node] for node in routing.topology.terminals]
placed = np.random.default_rng(1).permutation(hosts)[:16].tolist()

# %%
# Sixteen ranks on sixteen of the thirty-two hosts exchange data by recursive doubling. A phase with a load of two
# takes twice as long as without conflicts.

job = fabric.job(routing, placed, "recursive-doubling", hottest=12)
print(job)
job.plot()

# %%
# On the same hosts, ranks in the order of their leaf switches have fewer conflicts. With ``order=True``,
# ``fabric.job`` also searches for the best order.

in_order = fabric.job(routing, sorted(placed, key=hosts.index), "recursive-doubling")
print(f"mean load {job.mean} before, {in_order.mean} in order")
