"""The modules of built-in topologies, routings and traffic patterns, aliases included; of results and pictures.

Add a new name to its room and to this table; a test compares the table with what the modules register.
"""

from __future__ import annotations

from obliv._util.lazy import ABOVE
from obliv.specs import CHECKS, CONVERTERS, FILE_FORMATS, MODULES, RESULTS, Converter, FileFormat

__all__: list[str] = []

_TOPOLOGIES = {
    "obliv.fabric.specs": "fabric",
    "obliv.io.formats.leveled": "leveled-file",
    "obliv.io.graphs.named_graphs": "graph",
    "obliv.io.graphs.topohub": "topohub",
    "obliv.io.formats.topology_file": "file",
    "obliv.topologies.families.grids": "mesh torus line ring hypercube hyperx flattened-butterfly complete clique",
    "obliv.topologies.families.circulant": "circulant",
    "obliv.topologies.families.concentrated": "cmesh concentrated-mesh",
    "obliv.topologies.damaged": "damaged",
    "obliv.topologies.families.dragonfly": "dragonfly",
    "obliv.topologies.leveled.families": "butterfly leveled-mesh array leveled-hypercube",
    "obliv.topologies.leveled.random": "random-leveled deep multibutterfly",
    "obliv.topologies.leveled.unrolled": "unrolled-fattree unrolled-debruijn unrolled-shuffle",
    "obliv.topologies.families.random": "random-regular jellyfish",
    "obliv.topologies.families.megafly": "megafly",
    "obliv.topologies.families.rails": "rail",
    "obliv.topologies.families.slimfly": "slimfly slim-fly",
    "obliv.topologies.families.fat_trees": "xgft fattree subft eft2 sub-eft2",
    "obliv.topologies.families.twisted": "twisted-torus",
    "obliv.topologies.families.words": "debruijn de-bruijn kautz",
}

_ROUTINGS = {
    "obliv.designs.saved": "design",
    "obliv.designs.two_turns": "2turn",
    "obliv.fabric.specs": "lft far",
    "obliv.routings.cartesian.dimension_ordered": (
        "dor dim-order dim_order xy e-cube o1turn xy-yx xy_yx romm valiant val"
    ),
    "obliv.routings.graphs.electrical": "electrical",
    "obliv.routings.graphs.shortest": "shortest min ecmp",
    "obliv.routings.cartesian.odd_even": "odd-even",
    "obliv.routings.graphs.raecke": "raecke",
    "obliv.routings.sampled": "sampled",
    "obliv.routings.tables": "table",
    "obliv.routings.trees.digits": "dmodk smodk mlid hash",
    "obliv.routings.trees.multipath": "omrmn kpath osrm-k",
    "obliv.routings.trees.osrm": "osrm2 osrm2-c osrm3 osrm3-d osrmn",
    "obliv.routings.trees.tables": "wsr",
    "obliv.routings.cartesian.turns": "negative-first west-first north-last",
    "obliv.routings.cartesian.two_turn": "xyx yxy u2turn u2turn-a ival i2turn",
    "obliv.routings.cartesian.weighted_two_turn": "weighted-2turn",
    "obliv.routings.graphs.updown": "updown",
}

_PATTERNS = {
    "obliv.patterns.demands": "demands",
    "obliv.patterns.files": "permutation matrix flows",
    "obliv.patterns.jobs": "ring mesh2d mesh3d torus2d torus3d hypercube tree clustered hotspot bernoulli",
    "obliv.patterns.standard": (
        "uniform random transpose anti-transpose dor-wc complement tornado bit-complement bitcomp "
        "bitcomplement bit-reverse bitrev shuffle shift nearest-neighbor nearest-neighbour hot-nodes "
        "random-permutation randperm"
    ),
}

#: Kinds of results; a class whose kind others have, too, has keys of its own (``Result.marks``).
_RESULTS = {
    "obliv.results.analysis.average": "average",
    "obliv.results.analysis.compare": "compare",
    "obliv.results.analysis.deadlock": "deadlock virtual-channels",
    "obliv.results.analysis.heaviest": "heaviest-permutation",
    "obliv.results.analysis.locality": "locality",
    "obliv.results.analysis.lottery": "lottery",
    "obliv.results.analysis.ratio": "ratio traffic-ratio",
    "obliv.results.analysis.throughput": "throughput",
    "obliv.results.analysis.worst_case": "worst",
    "obliv.results.analysis.worst_channels": "worst-channels",
    "obliv.results.bufferless.schedule": "bufferless",
    "obliv.results.designs.average": "design",
    "obliv.results.designs.bounds": "bounds",
    "obliv.results.designs.design": "design",
    "obliv.results.designs.pareto": "pareto",
    "obliv.results.designs.ratio": "design",
    "obliv.results.explanation": "explanation",
    "obliv.results.fabric.check": "fabric-check",
    "obliv.results.fabric.failures": "failures",
    "obliv.results.fabric.job": "fabric-job",
    "obliv.results.fabric.route": "fabric-route",
    "obliv.results.fabric.throughput": "throughput",
    "obliv.results.fabric.what_if": "what-if",
    "obliv.results.fabric.worst": "worst fabric-shifts fabric-bisection",
    "obliv.results.listing": "list",
    "obliv.results.reproduction": "reproduce",
    "obliv.results.several": "results",
    "obliv.results.study": "study-run study study-diff study-verification",
    "obliv.results.verification": "verification",
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
    capacity=("obliv.designs.bounds.capacity", "with_capacity"), picture=("obliv.view.interactive.fragment", "fragment")
)

CHECKS["bufferless"] = "obliv.checker.schedules.check:check_saved"
CHECKS["tables after failures"] = "obliv.checker.failures.check:check_failures"

CONVERTERS["networkx"] = Converter("obliv.io.graphs.networkx", "from_networkx")

for _kind, _table in (("topology", _TOPOLOGIES), ("routing", _ROUTINGS), ("traffic", _PATTERNS)):
    MODULES[_kind].update({name: module for module, names in _table.items() for name in names.split()})

for _module, _kinds in _RESULTS.items():
    for _name in _kinds.split():
        RESULTS.setdefault(_name, []).append(_module)
