"""Modules that were renamed or moved: an import by the old name says the new one. To be removed in a release."""

from __future__ import annotations

from pathlib import Path

__all__ = ["successor"]

#: What has another name now; modules that were only moved inside their package are found by their names.
_RENAMED = {
    "topology": "topologies",
    "routing": "routings",
    "traffic": "patterns",
    "verify": "checker",
    "analysis.deadlock": "analysis.deadlocks.search",
    "analysis.ratio": "designs.ratios.oblivious",
    "analysis.traffic_ratio": "designs.ratios.patterns",
    "bufferless.grid_paths": "bufferless.paths.grids",
    "bufferless.instance": "bufferless.problems",
    "bufferless.orient": "bufferless.orientations",
    "bufferless.plan": "bufferless.frames.planning",
    "bufferless.run": "bufferless.moves",
    "fabric.check_cables": "fabric.checks.cables",
    "fabric.check_log": "fabric.checks.log",
    "fabric.check_names": "fabric.messages",
    "fabric.check_routes": "fabric.checks.routes",
    "fabric.check_tables": "fabric.checks.tables",
    "fabric.deadlock": "fabric.checks.credit_loops",
    "fabric.discover": "fabric.files.ibnetdiscover",
    "fabric.fabric": "fabric.model",
    "fabric.generate_tables": "fabric.generate.tables",
    "fabric.loads": "fabric.routes.loads",
    "fabric.network": "fabric.topology",
    "fabric.ports": "fabric.files.port_lists",
    "fabric.read": "fabric.files.read",
    "fabric.routing": "fabric.routes.routing",
    "fabric.subnet": "fabric.files.opensm_subnet",
    "fabric.write": "fabric.files.lft",
    "io.files": "io.formats.topology_file",
    "loads.added": "loads.mixed",
    "loads.enumerate": "loads.hops",
    "loads.pair_loads": "loads.base",
    "loads.relative": "loads.translated",
    "papers.verdict": "papers.verdicts",
    "results.average": "results.analysis.average",
    "results.fabric_check": "results.fabric.check",
    "results.fabric_throughput": "results.fabric.throughput",
    "results.instance": "topologies.leveled.instances",
    "results.ratio": "results.analysis.ratio",
    "results.result": "results.base",
    "results.saved": "results",
    "results.throughput": "results.analysis.throughput",
    "topologies.random": "topologies.families.random",  # leveled/ has one of this name, too
    "view.pictures": "view.network.pictures",
}


def successor(module: str) -> str:
    """Return the name that a module of the previous release has now; empty where nothing like it is known.

    Examples
    --------
    >>> successor("obliv.topology"), successor("obliv.fabric.trace"), successor("obliv.nothing")
    ('obliv.topologies', 'obliv.fabric.routes.trace', '')
    """
    package, _, name = module.partition(".")
    room, _, rest = name.partition(".")
    if name in _RENAMED:
        return f"{package}.{_RENAMED[name]}"
    top = Path(__file__).parent
    if not rest.isidentifier() or (top / room / rest).is_dir():  # pytest asks for packages that are there, too
        return ""
    files = [path for path in (top / room).rglob(f"{rest}.py") if path.parent.name != "kernels"]
    files.sort(key=lambda path: len(path.parts))
    return ".".join((package, *files[0].relative_to(top).with_suffix("").parts)) if files else ""
