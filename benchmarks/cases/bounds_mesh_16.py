"""What no routing beats on mesh:16x16, exactly, by a known routing."""

TARGET = "at most 10 s"


def setup(folder):
    import obliv

    return obliv.mesh(16, 16)


def run(topology):
    import obliv

    return obliv.bounds(topology)
