"""One focus channel of ROMM on torus:33x33, the assignment alone."""

from functools import partial

import numpy as np

TARGET = "40 times as fast as scipy"
K = 33


def setup(folder):
    import obliv
    from obliv.matching.solve import maximum_weight

    weights = obliv.routing("romm", obliv.torus(K, K)).pair_loads().weights(0)
    dense = np.zeros((K * K, K * K))
    row, col, weight = weights.spread()
    dense[row, col] = weight
    return partial(maximum_weight, weights), dense


def run(made):
    return made[0]()


def scipy(made):
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(made[1], maximize=True)


def lapx(made):
    import lap

    return lap.lapjv(-made[1])


OTHERS = {"scipy": scipy, "lapx": lapx}
