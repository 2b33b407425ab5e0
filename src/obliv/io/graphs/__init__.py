"""Networks of NetworkX, igraph and TopoHub."""
