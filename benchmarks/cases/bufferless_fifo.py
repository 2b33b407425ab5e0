"""A schedule in queues, first in first out, for 65,536 packets on butterfly:16."""

TARGET = "5 million packet-steps a second, 0.3 s here"


def setup(folder):
    from obliv.bufferless.problems import instance

    return instance("butterfly:16")


def run(given):
    import numpy as np

    from obliv.bufferless.schedulers import queues

    return queues(given, np.random.default_rng(0), "fifo")
