"""A network as a piece of HTML that contacts nobody: its drawing, pair loads, worst traffic, proof, and scripts."""

from __future__ import annotations

import html
import itertools
import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.arrays import INT64_SAFE, Array, whole
from obliv._util.files import write_whole
from obliv._util.progress import OutOfTimeError, Progress, TimeLimit, silent
from obliv._util.text import printable
from obliv.designs.design import Design
from obliv.designs.search import routing_of_paths
from obliv.errors import InputError, OblivError, TooLargeError
from obliv.flows.base import Flow
from obliv.flows.sources import source_flows, threshold_prices
from obliv.loads.base import PairLoads
from obliv.patterns.base import traffic as traffic_of
from obliv.patterns.standard import uniform
from obliv.questions.ratio import Ratio
from obliv.questions.throughput import Throughput
from obliv.questions.worst_case import WorstCase, orbits, verified
from obliv.results.base import Result
from obliv.results.claims import Claim, MalformedError, read_claim
from obliv.results.numbers import Estimate, as_float, shown
from obliv.routings.base import Routing
from obliv.routings.make import routing as routing_of
from obliv.specs.untrusted import bounded
from obliv.topologies.base import Topology, find, port_names
from obliv.topologies.cartesian import LinkFlows
from obliv.topologies.make import topology as topology_of
from obliv.view.layout import RADIUS, Points, channel_lines, layout_of
from obliv.view.network.canvas import Witness, short_names, witness

# The scripts and the style sheet of interactive networks, as text to be embedded in a page


PROOF_FILES = ("proof.js",)
CHECKER_FILES = (*PROOF_FILES, "closed.js", "choose.js")
SCRIPT_FILES = (*PROOF_FILES, "drawing.js", "details.js", "network.js")  #: In the order in which they need each other.


@cache
def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return resources.files("obliv.view.interactive").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """Return all scripts; they define ``OblivNetwork`` and ``OblivProof`` and contact nobody."""
    return "\n".join(map(asset, SCRIPT_FILES))


def style() -> str:
    """Return the style sheet; its rules apply inside elements of the class ``obliv-network`` only."""
    return asset("network.css")


# Pair loads as text for a page: different numbers and different rows once, everything else as small whole numbers


_MOST_ENTRIES = 8_000_000  # pairs on channels that are looked at before giving up
_LOOKED_AT = 8  # sources from which the room of all is estimated

#: Channels, destinations and numerators of what one source sends, sorted by channel, then by destination.
Entries = tuple[Array, Array, Array]


class UnevenError(ValueError):
    """A load that is not a whole number over the denominator."""


def number(value: int) -> int | str:
    """Return a whole number as JSON that every reader reads exactly: as text from 2**53 on."""
    return value if -(2**53) < value < 2**53 else str(value)


def text_of(numbers: Iterable[int]) -> str:
    """Return whole numbers ≥ 0 as base64: seven bits a byte, the lowest first, the highest bit set in all but the last.

    Examples
    --------
    >>> text_of([1, 300])
    'AawC'
    """
    data = bytearray()
    for value in numbers:
        while value > 127:
            data.append(value & 127 | 128)
            value >>= 7
        data.append(value)
    return b64encode(data).decode("ascii")


def pack_loads(
    entries: Iterable[Entries], channels: int, terminals: int, denominator: int, room: int
) -> dict[str, Any]:
    """Return pair loads for a page."""
    values: dict[int, int] = {}
    rows: dict[bytes, int] = {}
    row_numbers: list[int] = []
    by_channel: list[list[int]] = [[] for _ in range(channels)]
    last = [0] * channels
    seen = size = 0
    for i, (channel, destination, amount) in enumerate(entries):
        seen += len(channel)
        different, place = np.unique(amount, return_inverse=True)
        known = np.array([values.setdefault(int(value), len(values)) for value in different], np.int64)
        index = known[place] if len(different) else place
        starts = np.flatnonzero(np.diff(channel, prepend=-1))
        gaps = np.diff(destination, prepend=0)
        gaps[starts] = destination[starts]
        table = np.stack([gaps, index], axis=1)
        for first, end in zip(starts.tolist(), [*starts[1:].tolist(), len(channel)], strict=True):
            key = table[first:end].tobytes()
            if key not in rows:
                rows[key] = len(rows)
                row_numbers += [end - first, *table[first:end].ravel().tolist()]
            c = int(channel[first])
            by_channel[c] += [i - last[c], rows[key]]
            last[c] = i
        size += 3 * len(starts)
        expected = max(size, size * terminals / (i + 1) / 1.5 if i >= _LOOKED_AT else 0) + 1.3 * len(row_numbers)
        if seen > _MOST_ENTRIES or expected > room:
            raise TooLargeError(f"the loads of pairs take more than {room / 1e6:.2g} MB")
    per_channel = (part for row in by_channel for part in (len(row) // 2, *row))
    packed = {
        "denominator": str(denominator),
        "values": [str(value) for value in values],
        "rows": text_of(row_numbers),
        "channels": text_of(per_channel),
    }
    if len(packed["rows"]) + len(packed["channels"]) > room:
        raise TooLargeError(f"the loads of pairs take more than {room / 1e6:.2g} MB")
    return packed


def flow_entries(flows: Callable[[int], Flow], terminals: int, denominator: int) -> Iterator[Entries]:
    """Yield what the checker finds that every terminal sends, as numerators over a denominator."""
    for i in range(terminals):
        flow = flows(i)
        destination = np.searchsorted(flow.ends, np.arange(len(flow.channel)), side="right")
        share, over = np.asarray(flow.amount), np.asarray(flow.whole)[destination]
        if len(share) and int(max(share.max(), 1)) * denominator >= INT64_SAFE:
            share, over = share.astype(object), over.astype(object)
        scaled = share * denominator
        if len(share) and (scaled % over).any():
            raise UnevenError(f"a load is not a whole number over the denominator {denominator}")
        yield _summed(np.asarray(flow.channel), destination, scaled // over)


def weight_entries(loads: PairLoads) -> Iterator[Entries]:
    """Yield the numerators of pair loads, source by source."""
    parts = [loads.weights(channel).spread() for channel in range(loads.topology.channels)]
    channel = np.repeat(np.arange(len(parts)), [len(row) for row, _, _ in parts])
    row, column, weight = (np.concatenate(arrays) if parts else np.zeros(0, np.int64) for arrays in zip(*parts))
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(loads.terminals + 1))
    for first, end in itertools.pairwise(ends):
        part = order[first:end]
        yield _summed(channel[part], column[part], weight[part])


def _summed(channel: Array, destination: Array, amount: Array) -> Entries:
    """Return entries sorted by channel and destination, of which those of one pair are added up."""
    order = np.lexsort((destination, channel))
    channel, destination, amount = channel[order], destination[order].astype(np.int64), amount[order]
    new = np.ones(len(channel), bool)
    new[1:] = (np.diff(channel) != 0) | (np.diff(destination) != 0)
    first = np.flatnonzero(new)
    if not len(first):
        return channel, destination, amount
    if amount.dtype == object or int(np.abs(amount).max()) * len(amount) >= INT64_SAFE:
        sums = np.add.reduceat(amount.astype(object), first)
        busy = sums != 0
        return channel[first][busy], destination[first][busy], whole(sums[busy].tolist())
    sums = np.add.reduceat(amount.astype(np.int64), first)
    busy = sums != 0
    return channel[first][busy], destination[first][busy], sums[busy]


# The proof of a worst case for a page: prices, how they are carried, and the witness.
#
# The script of a page checks it as the contract of saved claims says, with whole numbers of any size: it carries the
# prices, bounds every channel against the claim, and adds up the load of the witness. What the page proves rests on the
# loads of pairs inside it. These come from the checker's own walk over paths, next hops or phases, never from a closed
# form, and the script checks that the loads of every pair are a flow of one packet from its source to its destination.
# That this flow is the one of the routing named in the page is what a reader still has to believe, or check with
# ``obliv verify``.


def claim_of(result: Result) -> Claim:
    """Return the claim of a result with a certificate; MalformedError if there is none."""
    return read_claim(result.to_dict())


def page_proof(claim: Claim, routing: Routing) -> dict[str, Any]:
    """Return a claim for the script of a page; thresholds become the prices that they stand for."""
    duals = [list(map(number, prices)) for prices in claim.duals]
    channels: list[Any] = []
    for c, entry in enumerate(claim.channels):
        if isinstance(entry, dict):
            flows = find(routing, LinkFlows)
            if flows is None:
                raise ValueError(f"channel {c} is proved by a threshold, which only differences of flows have")
            channels.append([len(duals), []])
            duals.append([number(int(price)) for price in threshold_prices(flows.over(c), entry["threshold"])])
        else:
            channels.append(entry)
    return {
        "kind": claim.kind,
        "claim": str(claim.channel_load),
        "channel": claim.channel,
        "permutation": claim.permutation,
        "traffic": None if claim.traffic is None else [[s, d, str(amount)] for s, d, amount in claim.traffic],
        "denominator": str(claim.denominator),
        "duals": duals,
        "generators": claim.generators,
        "channels": channels,
        "skipped": (routing.skipped if routing.partial else 0) if claim.skipped is None else claim.skipped,
    }


# The drawing of a network for a page: places of nodes and lines of channels, rounded and with few points


_CURVED = 8_000  # channels; those of larger networks are straight lines
_CLOSE = 0.008  # largest distance between a line and what is drawn of it; neighbors are one apart
_DIGITS = 3


def require_drawable(topology: Topology, most: int) -> None:
    """Raise TooLargeError for a network with more nodes or channels than a page draws."""
    if max(topology.channels, topology.nodes) > most:
        raise TooLargeError(
            f"{topology.spec} has {topology.nodes:,} nodes and {topology.channels:,} channels; "
            f"up to {most:,} of each are drawn"
        )


def _drawn_nodes(topology: Topology, points: Points) -> list[dict[str, Any]]:
    """Return the place, the name and the terminal's number of every node; y grows downwards."""
    places = np.round(points * [1.0, -1.0], _DIGITS).tolist()
    short = short_names(topology)
    nodes = []
    for v, ((x, y), terminal) in enumerate(zip(places, topology.number_of.tolist(), strict=True)):
        name = topology.name_of(v)
        node = {"x": x, "y": y, "name": name, "terminal": None if terminal < 0 else terminal}
        nodes.append(node if short[v] == name else node | {"short": short[v]})
    return nodes


def drawn_channels(topology: Topology) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """Return nodes and channels of a network, and the radius of a node.

    The lines of a channel are lists x, y, x, y ...; there are none where it is a straight line between its nodes.
    """
    layout = layout_of(topology)
    lines = channel_lines(topology, layout) if topology.channels <= _CURVED else []
    channels = []
    for c, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        channel: dict[str, Any] = {"tail": tail, "head": head, "bandwidth": str(topology.bandwidth_of(c))}
        if lines:
            channel["lines"] = [
                np.round(_simplified(line) * [1.0, -1.0], _DIGITS).ravel().tolist() for line in lines[c]
            ]
        ports = port_names(topology, c)
        channels.append(channel | {"ports": list(ports)} if any(ports) else channel)
    return _drawn_nodes(topology, layout.points), channels, RADIUS


def _simplified(line: Points) -> Points:
    """Return a line through a few of its points, which stays close to all of them (Douglas and Peucker)."""
    kept = [0, len(line) - 1]
    waiting = [(0, len(line) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        start, along = line[first], line[last] - line[first]
        inner = line[first + 1 : last] - start
        length = float(np.hypot(*along))
        off = np.abs(inner[:, 0] * along[1] - inner[:, 1] * along[0]) / length if length else np.hypot(*inner.T)
        farthest = int(off.argmax())
        if off[farthest] > _CLOSE:
            middle = first + 1 + farthest
            kept.append(middle)
            waiting += [(first, middle), (middle, last)]
    return line[sorted(kept)]


# The worst traffic of every channel by itself, solved once for each class of channels and carried to the others


_MOST_FOCUS = 400  # channels that are solved


def own_worst(loads: PairLoads) -> dict[str, Any] | None:
    """Return the worst load of every channel and the pairs that put it there, for a page."""
    topology, rates = loads.topology, loads.rates
    classes = orbits(topology, verified(loads, "auto", silent))
    focus = np.unique(classes.focus).tolist()
    if len(focus) > _MOST_FOCUS:
        return None
    value: dict[int, int] = {}
    flows: dict[int, Array] = {}
    for c in focus:
        solution = loads.solve(c, rates)
        value[c] = solution.value
        flows[c] = np.array(solution.shipments(), np.int64).reshape(-1, 3)
    numbers: list[int] = []
    exact: list[str] = []
    units = loads.denominator * rates.scale
    for c, of in enumerate(classes.focus.tolist()):
        place = topology.terminals.astype(np.int64)
        for step in classes.word(c):
            place = np.asarray(classes.generators[step])[place]
        moved, pairs = topology.number_of[place], flows[of].copy()
        pairs[:, :2] = moved[pairs[:, :2]]
        numbers += [len(pairs), *pairs[np.argsort(pairs[:, 0], kind="stable")].ravel().tolist()]
        exact.append(str(Fraction(value[of], units) / topology.bandwidth_of(c)))
    return {"loads": exact, "scale": rates.scale, "pairs": text_of(numbers)}


# What a page shows of a topology, a routing or a result: the network, its loads and its worst case


Subject = Topology | Routing | PairLoads | Result


@dataclass(frozen=True)
class PageLimits:
    """What a network may take in a page."""

    room: int = 1_000_000  #: Characters of the loads of pairs.
    seconds: float = 20.0  #: For computing these loads.
    solved: int = 300_000  #: Terminals times channels up to which loads and a worst case are computed for a routing.
    channels: int = 20_000  #: And nodes, that are drawn.


@dataclass(frozen=True)
class Shown:
    """What is shown: a network, and what is known about loads on it."""

    topology: Topology
    routing: Routing | None = None
    loads: PairLoads | None = None
    result: WorstCase | Ratio | None = None
    witness: Witness | None = None
    traffics: tuple[str, ...] = ()
    missing: str = "there is no routing"  #: Why there are no loads.

    @property
    def exact(self) -> bool:
        """Whether there are loads, and none of them is an estimate."""
        return self.loads is not None and self.loads.samples is None


def shown_of(subject: Any, limits: PageLimits) -> Shown:
    """Return what is to be shown; a small routing gets its worst case."""
    if isinstance(subject, Topology):
        return Shown(subject)
    if isinstance(subject, WorstCase) and subject.channel is not None:
        return _of_result(subject, limits)
    if isinstance(subject, Ratio) and subject.channel is not None and subject.permutation:
        return _of_ratio(subject, limits)
    if isinstance(subject, Result):
        traffics = tuple(row.traffic for row in subject.patterns) if isinstance(subject, Throughput) else ()
        return replace(shown_of(_subject_of(subject), limits), traffics=traffics)
    if isinstance(subject, PairLoads):
        return Shown(subject.topology, None, subject)
    if not isinstance(subject, Routing):
        raise InputError(f"a page shows a topology, a routing, loads or a result, not {type(subject).__name__}")
    require_drawable(subject.topology, limits.channels)
    if not _solvable(subject.topology, limits):
        return Shown(subject.topology, subject, missing="loads are not computed for a network of this size")
    loaded = Shown(subject.topology, subject, subject.pair_loads())
    result = _worst_case(subject)
    return loaded if result.channel is None else replace(loaded, result=result, witness=witness(result))


def _subject_of(result: Result) -> Any:
    """Return what a result is about; built from its specs where the result was loaded."""
    if result.subject is not None:
        return result.subject
    if isinstance(result, Design) and result.certificate is not None:
        return routing_of_paths(topology_of(result.topology), result.paths)
    if not result.routing:
        return topology_of(result.topology)
    return routing_of(result.routing, result.topology)


def _of_result(result: WorstCase, limits: PageLimits) -> Shown:
    """Return a worst case with its certificate, which is computed where it is missing and that is quick."""
    if isinstance(result.subject, Routing | PairLoads):
        require_drawable(result.subject.topology, limits.channels)
    seen = witness(result)
    missing = result.certificate is None and not isinstance(result.channel_load, Estimate)
    if missing and seen.routing is not None and _solvable(seen.topology, limits):
        found = _worst_case(seen.routing)
        if found.channel_load == result.channel_load:
            return Shown(seen.topology, seen.routing, seen.loads, found, witness(found))
    return Shown(seen.topology, seen.routing, seen.loads, result, seen)


def _of_ratio(result: Ratio, limits: PageLimits) -> Shown:
    """Return a ratio on a fat tree, which is the largest load, since the best routing loads no link above 1."""
    routing = _subject_of(result)
    if result.certificate is None and isinstance(routing, Routing) and _solvable(routing.topology, limits):
        from obliv.designs.network_ratios.compact import ratio

        result = ratio(routing, certificate=True)
    seen = witness(replace(result.worst_traffic().case, subject=routing))
    return Shown(seen.topology, seen.routing, seen.loads, result, seen)


def _worst_case(routing: Routing) -> WorstCase:
    from obliv.questions.worst_case import worst_case

    return worst_case(routing, certificate=True)


def _solvable(topology: Topology, limits: PageLimits) -> bool:
    return len(topology.terminals) * topology.channels <= limits.solved


# What a page needs to draw a network with its loads, to list the pairs that cross a channel, and to prove them


_MOST_PAIRS = 2_000  # listed for the worst channel where the loads of all pairs are left out
VERSION = 1  #: Of the form; scripts refuse others.


def network_payload(subject: Subject, limits: PageLimits | None = None) -> dict[str, Any]:
    """Return a network for ``OblivNetwork.mount``, as JSON types."""
    limits = limits or PageLimits()
    this = shown_of(subject, limits)
    topology = this.topology
    require_drawable(topology, limits.channels)
    nodes, channels, radius = drawn_channels(topology)
    views = list(_views(this))
    crossing, reason = _crossing(this, limits)
    proof, why = (None, reason) if crossing is None else _proof(this)
    own = own_worst(this.loads) if crossing is not None and this.loads is not None else None
    if own is not None:
        views.insert(1, _view("own", "worst load of each channel by itself", "its own worst load", own.pop("loads")))
    if views:
        for channel, load in zip(channels, views[0]["loads"], strict=True):
            channel |= {"load": load, "value": as_float(Fraction(load))}
    return {
        "version": VERSION,
        "topology": topology.spec,
        "routing": None if this.routing is None else this.routing.spec,
        "radius": radius,
        "nodes": nodes,
        "channels": channels,
        "terminals": topology.terminals.tolist(),
        **_rates(topology),
        "views": views,
        "worst": None if this.witness is None or this.result is None else _worst(this.result, this.witness),
        "own": own,
        "crossing": crossing,
        **({} if crossing else {"crossing_reason": reason}),
        "proof": proof,
        **({} if proof else {"proof_reason": why}),
    }


def _views(this: Shown) -> Iterator[dict[str, Any]]:
    """Yield the loads by which channels can be colored, the first one first."""
    if this.loads is None or not this.topology.channels:
        return
    about = "" if this.exact else " (estimated)"
    for spec in this.traffics:
        if spec != "uniform":
            loads = this.loads.under(traffic_of(spec, this.topology))
            yield _view(f"traffic:{spec}", f"load under {spec}{about}", f"under {spec}", loads)
    if this.witness is not None:
        loads = this.loads.under(this.witness.traffic)
        yield _view("worst", f"load under the worst traffic{about}", "under the worst traffic", loads)
    everywhere = this.loads.under(uniform(this.topology))
    yield _view("uniform", f"load under uniform traffic{about}", "under uniform traffic", everywhere)


def _view(kind: str, label: str, short: str, loads: Sequence[Any]) -> dict[str, Any]:
    return {"kind": kind, "label": label, "short": short, "loads": list(map(str, loads))}


def _worst(result: WorstCase | Ratio, seen: Witness) -> dict[str, Any]:
    """Return the worst traffic, and the pairs that load the worst channel."""
    load = result.lower if isinstance(result, Ratio) else result.channel_load
    flows = None if result.traffic is None else [[s, d, str(amount)] for s, d, amount in result.traffic]
    return {
        "channel": seen.channel,
        "load": None if isinstance(load, Estimate) else str(load),
        "text": shown(load),
        "permutation": None if result.permutation is None else list(result.permutation),
        "traffic": flows,
        "pairs": [[s, d, round(load, 9)] for s, d, load in reversed(seen.strong[-_MOST_PAIRS:])],
    }


def untrusted_payload(
    subject: Subject, limits: PageLimits, seconds: float, files: Iterable[str | Path], own: str = ""
) -> dict[str, Any]:
    """Return what :func:`network_payload` does; of a loaded result, within limits of time, memory and files."""
    if not isinstance(subject, Result) or subject.subject is not None:
        return network_payload(subject, limits)
    return bounded(_payload, subject, limits, seconds=seconds, files=files, own=own or f"the result {subject.kind!r}")


def _payload(subject: Subject, limits: PageLimits, progress: Progress) -> dict[str, Any]:
    return network_payload(subject, limits)


def _crossing(seen: Shown, limits: PageLimits) -> tuple[dict[str, Any] | None, str]:
    """Return the loads of all pairs, or why they are left out."""
    loads, topology = seen.loads, seen.topology
    if loads is None:
        return None, seen.missing
    if not seen.exact:
        return None, "the loads are estimates"
    limit = TimeLimit(time.perf_counter() + limits.seconds)
    try:
        entries = weight_entries(loads) if seen.routing is None else _walked(seen.routing, loads.denominator, limit)
        return pack_loads(entries, topology.channels, loads.terminals, loads.denominator, limits.room), ""
    except OutOfTimeError:
        return None, f"computing the loads of pairs takes more than {limits.seconds:g} seconds"
    except (OblivError, NotImplementedError, UnevenError) as error:
        return None, str(error)


def _walked(routing: Routing, denominator: int, limit: TimeLimit) -> Iterator[Entries]:
    """Yield the loads of pairs as the checker finds them, from paths, next hops or phases."""
    limit.check()
    flows = source_flows(routing, denominator, limit.check)
    return flow_entries(flows, len(routing.topology.terminals), denominator)


def _proof(seen: Shown) -> tuple[dict[str, Any] | None, str]:
    """Return the proof of the worst case, or why there is none."""
    if seen.routing is None:
        return None, "the loads were given without a routing, so nothing independent computes them"
    if seen.result is None:
        return None, "no worst case was computed"
    try:
        claim: Claim = claim_of(seen.result)
        if claim.denominator != int(seen.loads.denominator if seen.loads else 0):
            return None, "the certificate has another denominator than the loads"
        return page_proof(claim, seen.routing), ""
    except (MalformedError, ValueError) as error:
        return None, str(error)


def _rates(topology: Topology) -> dict[str, Any]:
    """Return what terminals send and take, nothing where that is one packet per cycle."""
    if topology.unit_rates:
        return {}
    injection, ejection = topology.rates()
    return {"injection": list(map(str, injection)), "ejection": list(map(str, ejection))}


_ROOM = 700_000  # characters of the data in a notebook
_CHANNELS = 4_000  # of a network that is drawn in a notebook
_SECONDS = 20.0  # for all that a loaded result names
_HEIGHTS = (300, 720)  # pixels of the frame
_BODY = "body { margin: 0.4rem; background: light-dark(#fefefe, #10151b); } :root { color-scheme: light dark; }"


def fragment(subject: Any) -> str:
    """Return a frame with a network, its loads and its proof; a line with the reason where there is none.

    Notebooks show it below the table of a topology, a routing or a result. Several frames do not disturb each other:
    each is a document of its own, sandboxed, without access to the notebook and to any network.

    Examples
    --------
    >>> import obliv
    >>> fragment(obliv.mesh(3, 3))[:48]
    '<iframe sandbox="allow-scripts" title="mesh:3x3"'
    """
    try:
        limits = PageLimits(room=_ROOM // 2, seconds=15.0, channels=_CHANNELS)
        payload = untrusted_payload(subject, limits, _SECONDS, [""])  # files of the current folder
        text = json_text(payload)
        if len(text) > _ROOM:
            raise TooLargeError(f"its drawing takes {len(text) / 1e6:.2g} MB, a notebook shows up to {_ROOM / 1e6:.2g}")
    except Exception as error:  # a picture that fails must not hide the table, whatever a user's own routing does
        reason = printable(str(error) or type(error).__name__)
        return f"<p>The network is not drawn: {html.escape(reason)}</p>"
    title = " on ".join(part for part in (payload["routing"], payload["topology"]) if part)
    page = document([payload], title).replace("&", "&amp;").replace("'", "&#39;")
    look = f"width:100%;height:{_height(payload)}px;border:0"
    label = f'title="{html.escape(printable(title))}"'
    return f'<iframe sandbox="allow-scripts" {label} loading="lazy" style="{look}" srcdoc=\'{page}\'></iframe>'


def write_network(subject: Any, path: str | Path) -> None:
    """Write a network with its loads as a web page that needs no server and contacts nobody.

    Pointing at a channel, or focusing it with the arrow keys, shows its loads, its worst traffic and the pairs that
    cross it. Where the loads of all pairs fit into the page, it checks the proof of the worst case itself.

    Parameters
    ----------
    subject : Topology, Routing, PairLoads or Result
        A network, a routing, or a result about them; small routings get their worst case.
    path : path-like

    Raises
    ------
    TooLargeError
        If the network has more than 20,000 nodes or channels.
    FileError
        If the page cannot be written.

    Examples
    --------
    >>> import obliv
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     obliv.view.write_network(obliv.worst_case("mesh:4x4", "romm"), f"{folder}/romm.html")
    """
    payload = network_payload(subject)
    title = " on ".join(part for part in (payload["routing"], payload["topology"]) if part)
    write_whole(path, document([payload], title).encode())


def document(payloads: list[dict[str, Any]], title: str) -> str:
    """Return a whole page with networks, whose policy allows nothing but its own scripts and style, by their hashes."""
    data = '<script type="application/json"'
    parts = [
        f'<div data-network="network-{k}"></div>{data} id="network-{k}">{json_text(payload)}</script>'
        for k, payload in enumerate(payloads)
    ]
    return _page(title, "".join(parts), f"{script()}\n{asset('boot.js')}", f"{_BODY}\n{style()}")


def checker_page() -> str:
    """Return a page that checks the closed claim that is chosen in it."""
    body = (
        "<h1>Check a closed claim</h1><p><label>A claim, .txt or .txt.gz; it does not leave this page. "
        '<input type="file" id="claim" accept=".txt,.gz"></label></p><p id="answer" role="status"></p>'
    )
    look = f"{_BODY} main {{ font-family: system-ui; }} #answer {{ white-space: pre-wrap; overflow-wrap: anywhere; }}"
    return _page("Check a closed claim", body, "\n".join(map(asset, CHECKER_FILES)), look)


def _page(title: str, body: str, code: str, look: str) -> str:
    policy = f"default-src 'none'; script-src {allowed_only(code)}; style-src {allowed_only(look)}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(printable(title))}</title><style>{look}</style></head>"
        f"<body><main>{body}</main><script>{code}</script></body></html>"
    )


def json_text(value: Any) -> str:
    """Return JSON that may stand inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("'", "\\u0027")


def allowed_only(text: str) -> str:
    """Return the source expression that allows exactly this script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _height(payload: dict[str, Any]) -> int:
    """Return the height of a frame, in pixels: that of the picture at the usual width of a notebook, and its lines."""
    x, y = ([float(node[axis]) for node in payload["nodes"]] or [0.0] for axis in ("x", "y"))
    shape = (max(y) - min(y) + 1.2) / (max(x) - min(x) + 1.2)
    least = 805 if payload["crossing"] else _HEIGHTS[0]  # pairs and their matrix stand beside the picture
    return max(least, min(_HEIGHTS[1], round(560 * shape) + 110))
