"""Demands of a network of SNDlib, as traffic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from obliv._util.files import read_source
from obliv._util.sndlib import Demand, parse
from obliv._util.text import plural, shown
from obliv.errors import FileError, TrafficError
from obliv.patterns.base import Traffic, from_flows
from obliv.specs.registry import register_pattern
from obliv.topologies.base import Topology

__all__ = ["demands_file"]


@register_pattern("demands", example="demands:germany50.txt")
def demands_file(topology: Topology, path: Path, ways: int = 1) -> Traffic:
    """Demands of an SNDlib file, divided by the most that a node sends or takes; ways=2 adds each demand's way back."""
    if ways not in (1, 2):
        raise TrafficError(f"demands: ways={ways}: use 1 for demands as the file gives them, 2 to add their ways back")
    text, digest = read_source(path)
    network = parse(text, path)
    if not network.demands:
        raise FileError("there are no demands in it", path)
    flows = _flows(network.demands, topology, ways, path)
    sums = [[Fraction(0)] * len(topology.terminals) for _ in range(2)]
    for (source, destination), value in flows.items():
        sums[0][source] += value
        sums[1][destination] += value
    rates = topology.rates()
    largest = max(
        total / rate for side, limits in zip(sums, rates, strict=True) for total, rate in zip(side, limits, strict=True)
    )
    if not largest:
        raise FileError("all its demands are 0", path)
    spec = f"demands:{path}" + (",ways=2" if ways == 2 else "")
    scaled = {pair: value / largest for pair, value in flows.items()}
    notes = [
        f"{plural(len(network.demands), 'demand')} divided by {float(largest):.7g}, the most that a node sends or takes"
    ]
    if ways == 1 and not any((destination, source) in flows for source, destination in flows):
        notes.append("every demand is one way, as the file gives it; ways=2 adds the way back")
    return replace(
        from_flows(spec, len(topology.terminals), scaled, Fraction(0), ((str(path), digest),)), notes=tuple(notes)
    )


def _flows(demands: Iterable[Demand], topology: Topology, ways: int, path: Path) -> dict[tuple[int, int], Fraction]:
    """Return what every pair of terminals demands, of those that demand something."""
    terminal = _terminals(topology)
    flows: dict[tuple[int, int], Fraction] = {}
    for demand in demands:
        ends = tuple(terminal.get(name, -1) for name in (demand.source, demand.target))
        if -1 in ends:
            name = demand.source if ends[0] < 0 else demand.target
            raise FileError(
                f"demand {shown(demand.name)} names {shown(name)}, which is not a terminal of {topology.spec}",
                path,
                demand.line,
            )
        if ends[0] == ends[1] or not demand.value:
            continue
        for source, destination in (ends, ends[::-1])[:ways]:
            flows[source, destination] = flows.get((source, destination), Fraction(0)) + demand.value
    return flows


def _terminals(topology: Topology) -> dict[str, int]:
    """Return the terminals by the names of their nodes; names that two nodes share are left out."""
    names = [topology.labels[node] if topology.labels else str(node) for node in topology.terminals.tolist()]
    count: dict[str, int] = {}
    for name in names:
        count[name] = count.get(name, 0) + 1
    return {name: k for k, name in enumerate(names) if count[name] == 1}
