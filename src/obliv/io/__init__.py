"""Files of other programs, read and written; NetworkX and igraph graphs."""

from obliv.io.formats.anynet import read_anynet, read_sndlib, write_anynet
from obliv.io.formats.dot import write_dot
from obliv.io.formats.gml import read_gml, write_gml
from obliv.io.formats.graphml import read_graphml, write_graphml
from obliv.io.formats.rows import read_edgelist, write_edgelist
from obliv.io.graphs import from_igraph, from_networkx, to_igraph, to_networkx
from obliv.io.simulators.booksim import write_booksim
from obliv.io.simulators.booksim_listed import extend_booksim
from obliv.io.simulators.caminos import write_caminos
from obliv.io.simulators.ns3 import write_ns3
from obliv.io.simulators.routes import write_csv_paths, write_path_table
from obliv.io.simulators.sst import write_sst
from obliv.io.simulators.tables import write_htsim, write_noxim

__all__ = [
    "extend_booksim",
    "from_igraph",
    "from_networkx",
    "read_anynet",
    "read_edgelist",
    "read_gml",
    "read_graphml",
    "read_sndlib",
    "to_igraph",
    "to_networkx",
    "write_anynet",
    "write_booksim",
    "write_caminos",
    "write_csv_paths",
    "write_dot",
    "write_edgelist",
    "write_gml",
    "write_graphml",
    "write_htsim",
    "write_noxim",
    "write_ns3",
    "write_path_table",
    "write_sst",
]


def __dir__() -> list[str]:
    return __all__
