"""A study of a thousand small cells, stored, against a loop over the functions."""

TARGET = "at most 1.1 times the loop"
PLAN = """
topologies = ["mesh:{a}x{b}"]
routings = ["dor", "o1turn", "valiant", "romm", "u2turn"]
measures = ["worst", "hops", { measure = "throughput", traffic = ["uniform", "complement"] }]
[ranges]
a = "2..8"
b = "2..8"
"""


def setup(folder):
    path = folder / "own.study.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def run(path):
    import tempfile

    import obliv

    with tempfile.TemporaryDirectory() as folder:
        return obliv.study.run(obliv.study.read(path), f"{folder}/cells.db", jobs=1)


def _loop(path):
    import obliv

    made = {}
    for cell in obliv.study.read(path).cells:
        where = cell.topology, str(cell.routing)
        if where not in made:
            made[where] = obliv.routing(where[1], where[0])
        routing = made[where]
        if cell.measure == "worst":
            obliv.worst_case(routing, certificate=True)
        elif cell.measure == "hops":
            obliv.locality(routing)
        else:
            obliv.throughput(routing, cell.options["traffic"])


OTHERS = {"a loop": _loop}
