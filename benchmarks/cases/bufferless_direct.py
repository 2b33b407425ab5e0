"""A schedule without buffers for 65,536 packets on butterfly:16, by the direct scheduler."""

TARGET = "10 million edges of paths a second, 0.1 s here"


def setup(folder):
    from obliv.bufferless.problems import instance

    return instance("butterfly:16")


def run(given):
    from obliv.bufferless.schedulers import direct

    return direct(given)
