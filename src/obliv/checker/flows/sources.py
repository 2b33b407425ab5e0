"""Flows of a routing, from the smallest of its descriptions: programs, numbered paths, phases, flows, hops or paths."""

from __future__ import annotations

from math import lcm

from obliv.checker.flows.base import CheckTime, Flows
from obliv.checker.flows.clusters import cluster_flows
from obliv.checker.flows.hops import denominator_of_hops, hop_flows
from obliv.checker.flows.links import difference_flows
from obliv.checker.flows.mixes import mixed_flows, two_phase_flows
from obliv.checker.flows.paths import numbered_flows, path_flows
from obliv.checker.flows.programs import program_flows
from obliv.checker.flows.reach import reach_flows
from obliv.errors import RoutingError
from obliv.routings.base import Routing

__all__ = ["denominator_of", "source_flows"]


def source_flows(routing: Routing, denominator: int, check_time: CheckTime = lambda: None) -> Flows:
    """Return a function from a terminal's number to what it sends.

    Parameters
    ----------
    routing : Routing
    denominator : int
        The claim's; amounts need not be over it.
    check_time : callable, optional
        Called before each unit of work; it may raise.
    """
    programs = routing.programs
    topology = routing.topology
    components = routing.components()
    if components[0][1] is not routing:
        if sum(weight for weight, _ in components) != 1 or any(weight < 0 for weight, _ in components):
            raise RoutingError(f"the weights of {routing.spec} do not add up to 1")
        return mixed_flows([(weight, source_flows(part, denominator, check_time)) for weight, part in components])
    if programs and topology.axes and topology.all_terminals and all(axis.kind != "clique" for axis in topology.axes):
        return mixed_flows(
            [(program.probability, program_flows(topology, program, check_time)) for program in programs]
        )
    if routing.by_number is not None:
        return numbered_flows(routing, check_time)
    if routing.phase_routing is not None:
        return two_phase_flows(routing, source_flows(routing.phase_routing, denominator, check_time), denominator)
    if (links := routing.link_flows) is not None:
        return difference_flows(topology, links)
    if (trees := routing.cluster_trees) is not None:
        return cluster_flows(topology, trees, routing.spec, check_time)
    if groups := routing.hop_groups:
        if routing.any_choice:
            parts = [(sources, reach_flows(part, routing.partial, check_time)) for sources, part in groups]
        else:
            parts = [(sources, hop_flows(part, denominator, check_time)) for sources, part in groups]
        flows_of = {node: flows for sources, flows in parts for node in sources.tolist()}
        return lambda i: flows_of[int(topology.terminals[i])](i)
    return path_flows(routing, check_time)


def denominator_of(routing: Routing, check_time: CheckTime = lambda: None) -> int:
    """Return a denominator that :func:`source_flows` can use, for results that do not contain one."""
    components = routing.components()
    if components[0][1] is not routing:
        return lcm(*(denominator_of(part, check_time) for _, part in components))
    if (routing.programs and routing.topology.axes) or routing.by_number is not None:
        return 1
    if (base := routing.phase_routing) is not None:
        own = denominator_of(base, check_time)
        flows = source_flows(base, own, check_time)
        return lcm(
            own, *(int(part) for i in range(len(base.topology.terminals)) for part in set(flows(i).whole.tolist()))
        )
    if routing.link_flows is None and routing.cluster_trees is None and not routing.any_choice:
        return lcm(*(denominator_of_hops(part, check_time) for _, part in routing.hop_groups or ()))
    return 1
