"""A million random permutations of mesh:8x8 under u2turn, drawn and weighed on one core."""

TARGET = "at most 0.7 s"


def setup(folder):
    import obliv

    return obliv.routing("u2turn", obliv.mesh(8, 8))


def run(routing):
    import obliv

    return obliv.average_case(routing, 10**6, 1, jobs=1)
