"""A study and its report
======================

A study computes many cells, topologies times routings times measures, into a store that loses nothing: run it again
and only what is missing is computed.
"""

from pathlib import Path
from tempfile import mkdtemp

import obliv

folder = Path(mkdtemp())
(folder / "meshes.study.toml").write_text("""
topologies = ["mesh:{k}x{k}"]
routings = ["dor", "o1turn", "romm", "valiant"]
measures = ["worst", "hops"]
[ranges]
k = "3..5"
""")

# %%
# ``jobs=1`` computes in this process; without it, cells run in processes of their own.

plan = obliv.study.read(folder / "meshes.study.toml")
obliv.study.run(plan, folder / "meshes.db", jobs=1)
table = obliv.study.show(folder / "meshes.db")
print(table)

# %%
# Every worst case was stored with its certificate.

print(obliv.study.verify(folder / "meshes.db"))

# %%
# The report is one web page that needs no server: a table that sorts and filters, charts, and the networks.

obliv.view.write_report(folder / "meshes.db", folder / "meshes.html")
print((folder / "meshes.html").name, "is written")
