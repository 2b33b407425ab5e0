"""The check of a design: its routing, the exact worst case of that, and the bounds that no routing can beat.

A design claims two things. Its routing, listed path by path, has a certain worst case: that is a worst-case claim, and
is checked as one. No routing has a smaller worst case than the lower bound, nor fewer hops: that is proved by lengths
of channels, and holds whatever the lengths are, as long as none is negative.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from obliv._util.arrays import Array
from obliv._util.files import digest_of
from obliv._util.progress import Progress, TimeLimit, within
from obliv.checker._kernels import CarriedLengths, PairLengths, StateNetwork, add_distances
from obliv.checker.constraints import Constraints, Ways, broken_rule, constraints_of, ways_of
from obliv.checker.linear import Line, capacity_load_of, image_of, is_index, price_of, terminal_maps
from obliv.checker.ratios import check_ratio_bounds
from obliv.checker.report import Report, read_result, short
from obliv.checker.worst_case import check_worst_case
from obliv.errors import InputError
from obliv.kernels import run
from obliv.results.claims import Claim, MalformedError, array_of, certificate_of, read_claim, reading
from obliv.results.numbers import Bounds, Estimate, bounds_of
from obliv.results.study import Verification
from obliv.routings.base import Routing
from obliv.routings.descriptions import NextHops
from obliv.routings.listed import Listed, PathList
from obliv.routings.make import routing as routing_of
from obliv.topologies.base import Topology, find

if TYPE_CHECKING:
    from obliv.designs.design import Design
    from obliv.designs.pareto import Pareto
    from obliv.designs.ratios.best import RatioDesign

_PATHS = {"per_pair", "hops", "channels", "amounts", "whole"}
_LARGEST = 2**61  # of sums in 64 bits
_LONGEST = 2**48  # length of a channel


def check_design(
    content: dict[str, Any], topology: Topology, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a design against a topology."""
    if len(topology.terminals) < 2:
        raise MalformedError(f"{topology.spec} has no pair of terminals")
    report = Report()
    claimed, certificate = read_design(content)
    bounding = _bounding(claimed, topology)
    files = () if bounding is None else bounding.sources
    report.note_origin(content, claimed.provenance.sources, topology.sources, files)
    if claimed.objective != type(claimed).objective:
        report.note("figures", False, f"the objective {claimed.objective!r:.20} is not that of the other figures")
    unchecked: tuple[int, ...] = tuple(range(topology.channels))
    if report.holds:
        with report.noting("paths"):
            routing = Listed(topology, "design", paths_of(content.get("paths"), topology))
            report.note("paths", True, "every path leads there, probabilities add up to 1")
            _check_figures(report, claimed, topology, routing, content)
            unchecked = _check_upper(report, claimed, certificate, routing, quick, budget, within(progress, 0.0, 0.6))
            rest = within(progress, 0.6, 1.0)
            if type(claimed).objective == "ratio":
                time_limit = TimeLimit(report.began + budget)
                check_ratio_bounds(report, cast("RatioDesign", claimed), certificate, routing, time_limit, rest)
            else:
                legal = legal_channels(topology, bounding)
                _check_within(report, routing, legal)
                _check_lower(report, claimed, certificate, topology, legal, rest)
    by_ratio = type(claimed).objective == "ratio"
    load = getattr(claimed, "ratio" if by_ratio else "channel_load")
    what = "ratio is at most" if by_ratio else "worst case is"
    lower, upper = bounds_of(load)
    rules = " and ".join(text for text in claimed.constraints if text != "minimal")
    estimated = "; its average is an estimate, not proved" if type(claimed).objective == "average" else ""
    kind = (
        ("minimal " if "minimal" in claimed.constraints else "")
        + "routing"
        + (f" with {rules}" if rules else "").replace(" with within ", " within ")
    )
    statement = f"its {what} {short(upper)}, and no {kind} has one below {short(lower)}{estimated}"
    return report.verification(statement, claimed.topology, "design", topology.sources, unchecked)


def check_pareto(
    content: dict[str, Any], topology: Topology, quick: bool, budget: float, progress: Progress
) -> Verification:
    """Check a curve of hops and worst cases, each point by its design; parameters as for :func:`check_design`."""
    report = Report()
    claimed: Pareto = read_result(content)
    certificate = certificate_of(content)
    designs = certificate.get("designs")
    if not isinstance(designs, list) or not all(isinstance(design, dict) for design in designs):
        raise MalformedError("designs must be a list of designs")
    if not designs or len(designs) != len(claimed.points):
        raise MalformedError("there must be a design for each point of the curve")
    if len({point.hops for point in claimed.points}) < len(designs):
        raise MalformedError("a point of the curve is listed twice")
    report.note_digest(certificate.get("digest") == digest_of(content))
    report.note_figures(*zip((claimed, *claimed.points), (content, *content["points"]), strict=True))
    constraints = constraints_of(claimed.constraints)
    least = ways_of(topology, constraints).hops(topology.terminals)[1][:, topology.terminals]
    fewest = Fraction(int(least.sum()), least.size)
    unchecked: set[int] = set()
    for number, (point, design) in enumerate(zip(claimed.points, designs, strict=True), 1):
        if not report.holds:
            break
        made, _ = read_design(design)
        limits = constraints_of(made.constraints)
        wrong = {
            "another objective": type(made).objective != "worst",
            "another network": made.topology != claimed.topology,
            "other constraints": replace(limits, hops=Fraction(0), minimal=False) != constraints
            or (limits.minimal and point.hops != fewest),  # with the fewest hops all paths are shortest
            "more hops": max(made.hops, limits.hops) != point.hops,
            "another load": made.channel_load != point.channel_load,
            "another fraction of capacity": made.fraction_of_capacity != point.fraction_of_capacity,
            "another least number of hops": fewest * point.times_minimal != point.hops,
        }
        part = within(progress, (number - 1) / len(designs), number / len(designs))
        checked = check_design(design, topology, quick, budget - (time.perf_counter() - report.began), part)
        failed = next((step for step in checked.checks if step.ok is not True), None)
        problem = next((f"its design has {what}" for what, so in wrong.items() if so), "")
        if not problem and failed is not None:
            problem = f"{failed.check}: {failed.detail}"
        ok = False if problem and (failed is None or failed.ok is False) else None if problem else True
        report.note(f"point {number}", ok, problem or f"{checked.claim}, with at most {short(point.hops)} mean hops")
        unchecked.update(checked.unchecked)
    statement = (
        f"no routing has a smaller worst case with as few hops as a point of the curve, at {len(designs)} points"
    )
    return report.verification(statement, claimed.topology, "design", topology.sources, sorted(unchecked))


def _bounding(claimed: Design, topology: Topology) -> Routing | None:
    """Return the routing whose next hops bound the paths of a design, if it names one."""
    spec = constraints_of(claimed.constraints).within
    return routing_of(spec, topology) if spec else None


def legal_channels(topology: Topology, bounding: Routing | None) -> Array:
    """Return which channels lead towards each terminal by next hops, shape (terminals, channels); (0, 0) for all."""
    if bounding is None:
        return np.zeros((0, 0), bool)
    hops = find(bounding, NextHops)
    if hops is None:
        raise InputError(f"the next hops of {bounding.spec} depend on the source")
    legal = np.zeros((len(topology.terminals), topology.channels), bool)
    for d, destination in enumerate(topology.terminals.tolist()):
        for node in range(topology.nodes):
            for hop in hops.next_hops(node, destination) if node != destination else ():
                legal[d, hop[0] if isinstance(hop, tuple) else hop] = True
    return legal


def _check_within(report: Report, routing: Listed, legal: Array) -> None:
    """Note whether all paths take only channels that lead towards their destinations."""
    if not len(legal):
        return
    nodes = routing.topology.terminals.tolist()
    inside = all(
        legal[k, list(path)].all()
        for s in nodes
        for k, d in enumerate(nodes)
        if s != d
        for path, _ in routing.paths(s, d)
    )
    report.note("within", inside, "every path keeps to the next hops" if inside else "a path leaves the next hops")


def read_design(content: dict[str, Any]) -> tuple[Design, dict[str, Any]]:
    """Return the figures and the certificate of a design."""
    if content.get("kind") != "design":
        raise MalformedError("it is not a design")
    claimed = read_result(content)
    certificate = certificate_of(content)
    for number in (claimed.channel_load, getattr(claimed, "ratio", Fraction(1))):
        if bounds_of(number)[0] <= 0:
            raise MalformedError("a load or ratio is not above 0")
    if type(claimed).objective == "average":
        if not (isinstance(claimed.average_load, Estimate) and 0 < claimed.average_load.value < inf):
            raise MalformedError("the average load is not an estimate above 0")
        if claimed.capacity is not None and not float(claimed.capacity):
            raise MalformedError("the capacity is 0, or too small for a float")
    return claimed, certificate


def paths_of(content: Any, topology: Topology) -> PathList:
    """Return the paths of a design; the list itself checks that they fit the network."""
    if not isinstance(content, dict) or type(content.get("whole")) is not int or content.keys() != _PATHS:
        raise MalformedError("paths is not a list of paths")
    pairs = len(topology.terminals) ** 2
    per_pair = _part(content, "per_pair", 1, pairs)
    hops = _part(content, "hops", 1, pairs * topology.channels)
    if any((counts < 0).any() or (counts > 2**31).any() for counts in (per_pair, hops)):
        raise MalformedError("a number of paths or hops is out of range")
    channel = _part(content, "channels", 1, min(int(hops.sum()), pairs * topology.channels * topology.nodes))
    amount = _part(content, "amounts", 1, len(hops))
    return PathList.of(per_pair, hops, channel, amount, content["whole"])


def worst_case_of(content: dict[str, Any], topology: Topology) -> tuple[Claim, Topology, Routing]:
    """Return the worst-case claim inside a design, its network and the routing of its paths."""
    _, certificate = read_design(content)
    return _worst_claim(certificate), topology, Listed(topology, "design", paths_of(content.get("paths"), topology))


def _worst_claim(certificate: dict[str, Any]) -> Claim:
    worst = certificate.get("worst")
    if not isinstance(worst, dict):
        raise MalformedError("worst is missing in the certificate")
    if worst.get("kind") != "worst":
        raise MalformedError("worst in the certificate is not the claim of a worst case")
    return read_claim(worst)


def _part(content: dict[str, Any], key: str, dimensions: int, most: int) -> Array:
    """Return an array of the design; a compressed one may hold up to `most` numbers."""
    with reading(key):
        array = array_of(content[key], key, most)
    if array.size == 0:
        array = array.reshape((0,) * dimensions)
    if array.ndim != dimensions:
        raise MalformedError(f"{key} has {array.ndim} dimensions where {dimensions} are expected")
    return array


def _check_figures(
    report: Report, claimed: Design, topology: Topology, routing: Listed, content: dict[str, Any]
) -> None:
    """Check what is said of the paths: hops and numbers of paths, and the capacity."""
    listed, terminals = routing.listed, len(topology.terminals)
    per_pair, hops = np.diff(listed.pair), np.diff(listed.start)
    sources = len(per_pair) // terminals
    crossings = sum(int(h) * int(a) for h, a in zip(hops.tolist(), listed.amount.tolist(), strict=True))
    mean_hops = Fraction(crossings * (terminals // sources), listed.whole * terminals**2)
    mean_paths = Fraction(int(per_pair.sum()), len(per_pair) - sources)
    worst = content["certificate"].get("worst")
    inner = worst.get("certificate") if isinstance(worst, dict) else None
    base = capacity_load_of(topology, inner.get("capacity") if isinstance(inner, dict) else None)
    figures = (
        ("mean hops", claimed.hops, mean_hops),
        ("paths per pair", claimed.paths_per_pair, mean_paths),
        ("most paths", claimed.most_paths, int(per_pair.max())),
        ("capacity", claimed.capacity, 1 / base if base else None),
    )
    if not report.note_figures((claimed, content)):
        return
    wrong = next((f"{name}: {true}, claimed {claim}" for name, claim, true in figures if claim != true), "")
    report.note("figures", not wrong, wrong or "hops, numbers of paths and capacity are as claimed")
    constraints = constraints_of(claimed.constraints)
    if constraints.minimal:
        shortest = ways_of(topology, constraints).hops(topology.terminals)[1][:, topology.terminals].T.ravel()
        pair = np.repeat(np.arange(len(per_pair)), per_pair)
        minimal = bool((hops == shortest[pair]).all())
        report.note("minimal", minimal, "every path is shortest" if minimal else "a path is longer than the shortest")
    if constraints.paths is not None:
        few = int(per_pair.max()) <= constraints.paths
        report.note("few paths", few, f"pairs have up to {int(per_pair.max())}, the limit is {constraints.paths}")
    if constraints.parts is not None:
        multiples = all(amount * constraints.parts % listed.whole == 0 for amount in listed.amount.tolist())
        text = "is a multiple" if multiples else "is claimed to be a multiple, but one is not,"
        report.note("weights", multiples, f"every weight {text} of 1/{constraints.parts}")
    if constraints.turns is not None:
        nodes = topology.terminals.tolist()
        paths = (path for s in nodes for d in nodes for path, _ in routing.paths(s, d))
        broken = broken_rule(paths, topology, constraints)
        report.note("turns", not broken, f"a path {broken}" if broken else "every path keeps to the limit")


def _check_upper(
    report: Report,
    claimed: Design,
    certificate: dict[str, Any],
    routing: Listed,
    quick: bool,
    budget: float,
    progress: Progress,
) -> tuple[int, ...]:
    """Check the worst case of the routing, as a claim of its own; return the channels that were not checked."""
    claim = _worst_claim(certificate)
    load = claimed.channel_load
    upper = bounds_of(load)[1]
    reached = claim.channel_load == upper or (isinstance(load, Bounds) and claim.channel_load <= upper)
    claims = f"that of the routing is {short(claim.channel_load)}, claimed {short(upper)}"
    report.note("worst case", reached, claims)
    checked = check_worst_case(claim, routing.topology, routing, quick, budget, progress)
    for step in checked.checks:
        report.note(step.check, step.ok, step.detail)
    return checked.unchecked


def _check_lower(
    report: Report, claimed: Design, certificate: dict[str, Any], topology: Topology, legal: Array, progress: Progress
) -> None:
    """Check the lower bounds of the worst case and of the hops."""
    lower, upper = bounds_of(claimed.channel_load)
    carried = carried_lengths(certificate, topology)
    constraints = constraints_of(claimed.constraints)
    ways, limit = ways_of(topology, constraints), constraints.hops
    line = _line(certificate.get("load_line"), carried, ways, topology, constraints, legal, progress)
    bound = line.least_objective(limit)
    reaches = bound >= lower and (limit > 0 or line.price == 0)
    detail = f"lengths of channels prove {short(bound)}, claimed {short(lower)}"
    if line.price and not limit:
        detail = "hops have a price, which proves nothing without a limit of hops"
    report.note("lower bound", reaches, detail)
    if claimed.hops_bound is not None:
        line = _line(certificate.get("hops_line"), carried, ways, topology, constraints, legal, progress)
        bound = line.least_hops(upper)
        fits = bound >= claimed.hops_bound
        report.note("fewest hops", fits, f"lengths prove {short(bound)}, claimed {short(claimed.hops_bound)}")
    if limit and claimed.hops > limit:
        report.note("limit of hops", False, f"{short(claimed.hops)} mean hops exceed {short(limit)}")


def carried_lengths(certificate: dict[str, Any], topology: Topology) -> CarriedLengths:
    """Return which focus channel's lengths every channel takes, and the map of terminals that carries them."""
    generators = _part(certificate, "generators", 2, topology.channels * topology.nodes)
    terminals = len(topology.terminals)
    maps = terminal_maps(generators, topology)
    focus, channels = certificate.get("focus"), certificate.get("channels")
    if not isinstance(focus, list) or not isinstance(channels, list) or len(channels) != topology.channels:
        raise MalformedError("channels must list where the lengths of every channel come from")
    if not all(is_index(channel, topology.channels) for channel in focus):
        raise MalformedError("focus lists something other than channels")
    source, here = [], []
    for entry in channels:
        if not (isinstance(entry, list) and len(entry) == 2 and is_index(entry[0], len(focus))):
            raise MalformedError("an entry of channels is not [focus, word]")
        source.append(entry[0])
        here.append(image_of(entry[1], maps, terminals))
    images = np.array(here, np.int64).reshape(-1, terminals)
    return CarriedLengths(np.array(source, np.int64), images, np.argsort(images, axis=1))


def _line(
    content: Any,
    carried: CarriedLengths,
    ways: Ways,
    topology: Topology,
    constraints: Constraints,
    legal: Array,
    progress: Progress,
) -> Line:
    """Return what the lengths of a line prove."""
    price, tables = price_of(content, _LARGEST), content.get("lengths")
    count = int(carried.source.max(initial=-1)) + 1
    if not isinstance(tables, list) or len(tables) < count:
        raise MalformedError("lengths are missing for a focus channel")
    terminals = len(topology.terminals)
    rows = [_rows({"lengths": table}, terminals) for table in tables]
    if (price + sum(int(table[:, 2].sum()) for table in rows)) * topology.nodes * terminals**2 > _LARGEST * 2**20:
        raise InputError("the lengths of the certificate are too large to be added up")
    order = [np.lexsort((table[:, 1], table[:, 0])) for table in rows]
    joined = np.concatenate([table[place] for table, place in zip(rows, order, strict=True)])
    offsets = np.cumsum([0] + [len(table) for table in rows])
    start = np.array(
        [
            offset + np.searchsorted(table[place, 0], np.arange(terminals + 1))
            for offset, table, place in zip(offsets, rows, order, strict=False)
        ]
    )
    nothing = np.zeros((0, 0), np.int64)
    there, back = ways.hops(topology.terminals) if constraints.minimal else (nothing, nothing)
    ends = topology.terminals.astype(np.int64)
    network = StateNetwork(ways.first, ways.head, ways.channel, ways.node, ends, there, back, legal)
    sums = np.zeros(terminals, np.int64)
    progress("distances", 0.0)
    lengths = PairLengths(start, np.ascontiguousarray(joined[:, 1]), np.ascontiguousarray(joined[:, 2]))
    run(add_distances, 20.0 * terminals**2 * len(ways.head), network, lengths, carried, price, sums)
    if (sums < 0).any():
        raise InputError("a terminal cannot be reached from another one")
    return Line(price, sum(map(int, sums)), _spent(rows, carried, topology), terminals**2)


def _rows(content: dict[str, Any], terminals: int) -> Array:
    table = _part(content, "lengths", 2, 3 * terminals**2)
    if table.size and table.shape[1] != 3:
        raise MalformedError("a row of lengths is not [source, destination, length]")
    table = table.reshape(-1, 3)
    if len(table) and (table.min() < 0 or table[:, :2].max() >= terminals or table[:, 2].max() > _LONGEST):
        raise MalformedError("a row of lengths is out of range")
    if table[:, 2].sum(dtype=float) > _LARGEST / 2:
        raise InputError("the lengths of the certificate are too large to be added up")
    return table


def _sums(index: Array, amounts: Array, count: int) -> Array:
    sums = np.zeros(count, np.int64)
    np.add.at(sums, index, amounts)
    return sums


def _spent(rows: list[Array], carried: CarriedLengths, topology: Topology) -> Fraction:
    """Return Σ b_c y_c: of every channel, the largest row or column sum of its lengths, over the terminals' rates."""
    terminals = len(topology.terminals)
    sums = [[_sums(table[:, side], table[:, 2], terminals) for side in (0, 1)] for table in rows]
    injection, ejection = topology.rates()
    total = Fraction(0)
    for channel, source in enumerate(carried.source.tolist()):
        most = Fraction(0)
        for amounts, rates in zip(sums[source], (injection, ejection), strict=True):
            here = amounts[carried.there[channel]]
            if topology.unit_rates:
                most = max(most, Fraction(int(here.max())))
            else:
                most = max(most, *(Fraction(int(a)) / rate for a, rate in zip(here.tolist(), rates, strict=True)))
        total += topology.bandwidth_of(channel) * most
    return total
