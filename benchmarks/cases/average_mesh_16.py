"""A million random permutations of mesh:16x16 under o1turn, drawn and weighed on one core."""

import numpy as np

TARGET = "at most 7 s; 25 times as fast as a numpy loop"
COUNT, LOOP = 10**6, 500
SHARE = LOOP / COUNT


def setup(folder):
    import obliv

    routing = obliv.routing("o1turn", obliv.mesh(16, 16))
    loads = routing.pair_loads()
    n = loads.terminals
    table = np.zeros((n * n, loads.topology.channels))
    for channel in range(loads.topology.channels):
        row, col, weight = loads.weights(channel).spread()
        table[row * n + col, channel] = weight / loads.denominator
    return routing, table, n


def run(made):
    import obliv

    return obliv.average_case(made[0], COUNT, 1, jobs=1)


def numpy(made):
    _, table, n = made
    rng, base = np.random.default_rng(1), np.arange(n) * n
    for _ in range(LOOP):
        table[base + rng.permutation(n)].sum(axis=0).max()


OTHERS = {"numpy": numpy}
