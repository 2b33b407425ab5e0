"""obliv.ratio of osrm3-d on FT(36,3), 11,664 hosts."""

TARGET = "at most 4 s, 1.5 GB"


def setup(folder):
    import obliv

    return obliv.routing("osrm3-d", obliv.fattree(36, 3))


def run(routing):
    import obliv

    return obliv.ratio(routing)
