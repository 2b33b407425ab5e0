"""Deadlock of west-first on mesh:40x40: dependencies of channels, and an order of them."""

TARGET = "at most 5 s"


def setup(folder):
    import obliv

    return obliv.routing("west-first", obliv.mesh(40, 40))


def run(routing):
    import obliv

    return obliv.deadlock(routing)
