"""obliv.worst_case of ECMP on a random 8-regular graph of 1,000 nodes, loads included."""

TARGET = "at most 1.5 s"


def setup(folder):
    import obliv

    return obliv.random_regular(1000, 8, seed=1)


def run(topology):
    import obliv

    return obliv.worst_case(obliv.ECMP(topology))
