"""Hot-potato routing of 65,536 packets on leveled-mesh:256x256, the packet closest to its destination first."""

TARGET = "1.5 million packet-steps a second, 11 s here"


def setup(folder):
    from obliv.bufferless.problems import instance

    given = instance("leveled-mesh:256x256", route="xy")
    _ = given.network.edge_ends  # made once per network
    return given


def run(given):
    import numpy as np

    from obliv.bufferless.schedulers import hot_potato

    return hot_potato(given, np.random.default_rng(0), "closest")
