"""What the core has: the modules of topologies, routings and traffic patterns, aliases included, and capabilities.

Add a new name to its room and to this table; a test compares the table with what the modules register. What the wings
have stands in their ``wing.py``.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from obliv._util.lazy import ABOVE
from obliv.capabilities import capability
from obliv.specs import CONVERTERS, MODULES, Converter

__all__: list[str] = []

_TOPOLOGIES = {
    "obliv.io.graphs": "graph topohub",
    "obliv.io.formats.topology_file": "file",
    "obliv.topologies.families.grids": (
        "mesh torus line ring hypercube hyperx flattened-butterfly complete clique twisted-torus"
    ),
    "obliv.topologies.families.words": "circulant random-regular jellyfish debruijn de-bruijn kautz",
    "obliv.topologies.families.trees": "cmesh concentrated-mesh rail xgft fattree subft eft2 sub-eft2",
    "obliv.topologies.damaged": "damaged",
    "obliv.topologies.families.low_diameter": "dragonfly megafly slimfly slim-fly",
}

_ROUTINGS = {
    "obliv.designs.search": "design",
    "obliv.designs.pareto": "2turn",
    "obliv.routings.dimension_ordered": "dor dim-order dim_order xy e-cube o1turn xy-yx xy_yx romm valiant val",
    "obliv.routings.congestion": "electrical raecke",
    "obliv.routings.shortest": "shortest min ecmp updown",
    "obliv.routings.turns": (
        "odd-even negative-first west-first north-last xyx yxy u2turn u2turn-a ival i2turn weighted-2turn"
    ),
    "obliv.routings.mixes": "sampled",
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

capability(
    "worst",
    "obliv.questions.worst_case",
    summary="Find the exact worst case, with a certificate.",
    verb="obliv.cli.questions:worst",
    check="obliv.checker.worst_case:check_load",
    measure="obliv.study.measures:WORST",
)
capability("verify", summary="Check a saved claim with independent code.", verb="obliv.cli.files:verify")
capability(
    "throughput",
    "obliv.questions.throughput",
    summary="Compute the exact ideal throughput of traffic patterns.",
    verb="obliv.cli.questions:throughput",
    check="obliv.checker.recounted:check_throughput",
    measure="obliv.study.measures:THROUGHPUT",
)
capability(
    "average",
    "obliv.questions.average",
    summary="Estimate the average throughput over random permutations.",
    verb="obliv.cli.questions:average",
    check="obliv.checker.recounted:check_average",
    measure="obliv.study.measures:AVERAGE",
)
capability(
    "compare",
    "obliv.questions.compare",
    summary="Compare routings: worst case, average, patterns, hops.",
    verb="obliv.cli.questions:compare",
    draw="obliv.view.charts.comparison:plot_comparison",
)
capability(
    "design",
    "obliv.designs.design",
    "obliv.designs.average",
    "obliv.designs.network_ratios.best",
    summary="Design the routing with the least worst case, with a proof.",
    verb="obliv.cli.designs:design",
    check="obliv.checker.designs:check_design",
    measure="obliv.study.measures:DESIGN",
)
capability(
    "bounds",
    "obliv.designs.bounds.network",
    summary="Bound what any routing can achieve on a network, with proofs.",
    example="mesh:7x6 --plot bounds.png\ndragonfly:p=2,a=8,h=1 --time-limit 60",
    check="obliv.checker.network_bounds:check_network_bounds",
    measure="obliv.study.measures:BOUNDS",
)
capability(
    "ratio",
    "obliv.questions.ratio",
    summary="Compute the oblivious performance ratio, with a certificate.",
    verb="obliv.cli.questions:ratio",
    check="obliv.checker.ratios:check_ratio",
    measure="obliv.study.measures:RATIO",
)
capability(
    "deadlock",
    "obliv.questions.deadlocks.deadlock",
    summary="Find deadlocks: cycles of channel dependencies.",
    verb="obliv.cli.questions:deadlock",
    check="obliv.checker.deadlock:check_deadlock",
    draw="obliv.view.network.channels:plot_deadlock",
    measure="obliv.study.measures:DEADLOCK",
)
capability(
    "failures",
    "obliv.questions.failures",
    summary="Find the worst case after each single failure, worst ones first.",
    verb="obliv.cli.questions:failures",
    check="obliv.checker.rerouted:check_failures",
)
capability(
    "collisions",
    "obliv.questions.collisions.collisions",
    summary="Find how the largest load is distributed under hashed paths.",
    example="fattree:8,3 random-permutation --flows 4\nfattree:8,2 shift:4 --guarantee 2@0.99 --samples 100000",
    check="obliv.checker.collisions:check_collisions",
    former="lottery",
)
capability(
    "simulate",
    "obliv.io.simulators.simulation",
    summary="Find the highest stable rate in BookSim2, beside the prediction.",
    example="mesh:4x4 dor transpose --booksim booksim2/src/booksim\ntorus:8x8 romm worst --channels --plot latency.png",
    measure="obliv.study.measures:SIMULATE",
)
capability(
    "list",
    "obliv.results.base",
    summary="List the topologies, routings or traffic patterns.",
    verb="obliv.cli.questions:list_",
)
capability("export", summary="Write files for simulators, paths as tables, or networks.", verb="obliv.cli.files:export")
capability(
    "plot", summary="Draw a topology, channel loads, worst traffic or a saved result.", verb="obliv.cli.files:app"
)
capability(
    "study",
    "obliv.results.study",
    summary="Compute and keep many cells: topologies, routings, measures.",
    verb="obliv.cli.study:app",
)
capability("report", summary="Write studies and saved results as one web page.", verb="obliv.cli.files:report")
capability("worst-channels", "obliv.questions.worst_channels", check="obliv.checker.worst_case:check_load")
capability("heaviest-permutation", "obliv.questions.worst_channels")
capability("virtual-channels", "obliv.questions.deadlocks.deadlock")
capability("locality", "obliv.questions.locality")
capability("hops", measure="obliv.study.measures:HOPS")
capability("traffic-ratio", "obliv.questions.ratio", check="obliv.checker.traffic_ratios:check_traffic_ratio")
capability("pareto", "obliv.designs.pareto", check="obliv.checker.designs:check_pareto")
capability("explanation", "obliv.results.base")
capability("results", "obliv.results.markup")
for _kind in ("study-run", "study-diff", "study-verification", "verification"):
    capability(_kind, "obliv.results.study")

ABOVE.update(
    capacity=("obliv.designs.bounds.congestion", "with_capacity"),
    picture=("obliv.view.interactive.fragment", "fragment"),
)

CONVERTERS["networkx"] = Converter("obliv.io.graphs", "from_networkx")

for _kind, _table in (("topology", _TOPOLOGIES), ("routing", _ROUTINGS), ("traffic", _PATTERNS)):
    MODULES[_kind].update({name: module for module, names in _table.items() for name in names.split()})

for _wing in sorted(Path(__file__).parent.glob("*/wing.py")):  # whose packages are not imported: start-up is free
    _name = f"obliv.{_wing.parent.name}.wing"
    SourceFileLoader(_name, str(_wing)).exec_module(ModuleType(_name))
