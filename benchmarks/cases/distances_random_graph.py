"""Distances between all pairs of a random 8-regular graph of 2,000 nodes."""

TARGET = "none: it is not what takes long"


def setup(folder):
    import obliv

    topology = obliv.random_regular(2000, 8, seed=1)
    edges = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    return topology, edges


def run(made):
    from obliv.designs.bounds.congestion import hop_distances

    return hop_distances(made[0])


def igraph(made):
    from igraph import Graph

    return Graph(2000, made[1], directed=True).distances()


def networkx(made):
    import networkx

    return dict(networkx.all_pairs_shortest_path_length(networkx.DiGraph(made[1])))


OTHERS = {"igraph": igraph, "networkx": networkx}
