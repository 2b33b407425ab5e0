"""Checking an InfiniBand fabric
=============================

A fabric is read from the files that operators have: ``ibnetdiscover`` and the forwarding tables of the switches. Here
they are generated from a fat tree, so that the example needs no cluster.
"""

from pathlib import Path
from tempfile import mkdtemp

import obliv
from obliv import fabric

folder = Path(mkdtemp())
tree = obliv.topology("fattree:8,2")
cluster = fabric.from_topology(tree)
fabric.write_net(cluster, folder / "fabric.net")
fabric.write_tables(fabric.tables_of(obliv.routing("dmodk", tree), cluster), cluster, folder / "dmodk.lfts")

# %%
# The check follows every route, looks for holes, loops and credit loops, and recognizes the tree in the cabling.

cluster, tables = fabric.read(folder / "fabric.net", folder / "dmodk.lfts")
print(fabric.check(cluster, tables))

# %%
# The exact worst case names hosts and cables.

worst = fabric.worst(fabric.routing(fabric.network(cluster), tables), hottest=3)
print(worst)
worst.plot(title=False)
