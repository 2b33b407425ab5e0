"""The modules of built-in topologies, routings and traffic patterns, aliases included; of results and pictures.

Add a new name to its room and to this table; a test compares the table with what the modules register.
"""

from __future__ import annotations

from obliv._util.lazy import ABOVE
from obliv.specs import CHECKS, CONVERTERS, FILE_FORMATS, MODULES, RESULTS, Converter, FileFormat

__all__: list[str] = []

_TOPOLOGIES = {
    "obliv.fabric.specs": "fabric",
    "obliv.bufferless.leveled.files": "leveled-file",
    "obliv.io.graphs": "graph topohub",
    "obliv.io.formats.topology_file": "file",
    "obliv.topologies.families.grids": (
        "mesh torus line ring hypercube hyperx flattened-butterfly complete clique twisted-torus"
    ),
    "obliv.topologies.families.words": "circulant random-regular jellyfish debruijn de-bruijn kautz",
    "obliv.topologies.families.trees": "cmesh concentrated-mesh rail xgft fattree subft eft2 sub-eft2",
    "obliv.topologies.damaged": "damaged",
    "obliv.topologies.families.low_diameter": "dragonfly megafly slimfly slim-fly",
    "obliv.bufferless.leveled.families": (
        "butterfly leveled-mesh array leveled-hypercube random-leveled deep multibutterfly unrolled-fattree "
        "unrolled-debruijn unrolled-shuffle"
    ),
}

_ROUTINGS = {
    "obliv.designs.search": "design",
    "obliv.designs.pareto": "2turn",
    "obliv.fabric.specs": "lft far",
    "obliv.routings.dimension_ordered": "dor dim-order dim_order xy e-cube o1turn xy-yx xy_yx romm valiant val",
    "obliv.routings.congestion": "electrical raecke",
    "obliv.routings.shortest": "shortest min ecmp updown",
    "obliv.routings.turns": (
        "odd-even negative-first west-first north-last xyx yxy u2turn u2turn-a ival i2turn weighted-2turn"
    ),
    "obliv.routings.sampled": "sampled",
    "obliv.routings.listed": "table",
    "obliv.routings.trees": "dmodk smodk mlid hash wsr",
    "obliv.routings.multipath": "omrmn kpath osrm-k osrm2 osrm2-c osrm3 osrm3-d osrmn",
}

_PATTERNS = {
    "obliv.patterns.files": "demands permutation matrix flows",
    "obliv.patterns.standard": (
        "ring mesh2d mesh3d torus2d torus3d hypercube tree clustered hotspot bernoulli uniform random "
        "transpose anti-transpose dor-wc complement tornado bit-complement bitcomp bitcomplement bit-reverse "
        "bitrev shuffle shift nearest-neighbor nearest-neighbour hot-nodes random-permutation randperm"
    ),
}

#: Kinds of results; a class whose kind others have, too, has keys of its own (``Result.marks``).
_RESULTS = {
    "obliv.questions.average": "average",
    "obliv.questions.compare": "compare",
    "obliv.questions.deadlocks.deadlock": "deadlock virtual-channels",
    "obliv.questions.worst_channels": "heaviest-permutation worst-channels",
    "obliv.questions.locality": "locality",
    "obliv.questions.collisions.collisions": "lottery",
    "obliv.questions.ratio": "ratio traffic-ratio",
    "obliv.questions.throughput": "throughput",
    "obliv.questions.worst_case": "worst",
    "obliv.bufferless.results": "bufferless",
    "obliv.designs.average": "design",
    "obliv.designs.bounds.network": "bounds",
    "obliv.designs.design": "design",
    "obliv.designs.pareto": "pareto",
    "obliv.designs.ratios.best": "design",
    "obliv.results.base": "explanation list results",
    "obliv.fabric.results.check": "fabric-check",
    "obliv.questions.failures": "failures",
    "obliv.fabric.results.job": "fabric-job",
    "obliv.fabric.results.route": "fabric-route",
    "obliv.fabric.results.worst": "throughput what-if worst fabric-shifts fabric-bisection",
    "obliv.results.reproduction": "reproduce",
    "obliv.results.study": "study-run study study-diff study-verification verification",
}

FILE_FORMATS["ibnetdiscover"] = FileFormat(
    r'(?:(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|(?:Switch|Ca|Hca|Rt|\?\?\?)[ \t]+\d+[ \t]+")',
    "obliv.fabric.specs",
    "fabric",
)

#: Other files of fabrics.
_FABRICS = {
    "ibnetdiscover-p": r"[ \t]*(?:CA|SW|RT|\?\?)[ \t]+\d+[ \t]+\d+[ \t]+0x[0-9a-fA-F]+[ \t]+\S+[ \t]+\S+",
    "iblinkinfo": r"[^\n=]{0,200}==\([^)\n]*\)==>",
    "opensm-subnet": r"[ \t]*\{ \S+ Ports:[0-9a-fA-F]+ ",
    "ibdiagnet-net-dump": r'[ \t]*"[^"\n]{0,200}",[^,\n]{0,100}, *0x[0-9a-fA-F]{1,16}, *LID +\d',
    "ibdiagnet-db-csv": r"START_(?:NODES|LINKS)\b",
}
FILE_FORMATS.update({name: FileFormat(sign, "obliv.fabric.specs", "fabric") for name, sign in _FABRICS.items()})

ABOVE.update(
    capacity=("obliv.designs.bounds.congestion", "with_capacity"),
    picture=("obliv.view.interactive.fragment", "fragment"),
)

CHECKS["bufferless"] = "obliv.bufferless.checker.claims:check_saved"
CHECKS["tables after failures"] = "obliv.fabric.checker.failures:check_failures"

CONVERTERS["networkx"] = Converter("obliv.io.graphs", "from_networkx")

for _kind, _table in (("topology", _TOPOLOGIES), ("routing", _ROUTINGS), ("traffic", _PATTERNS)):
    MODULES[_kind].update({name: module for module, names in _table.items() for name in names.split()})

for _module, _kinds in _RESULTS.items():
    for _name in _kinds.split():
        RESULTS.setdefault(_name, []).append(_module)
