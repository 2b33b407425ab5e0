"""Networks after failures, without some links or nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from obliv._util.arrays import Array, NodeArray
from obliv._util.text import plural, several
from obliv.errors import InputError, SpecError, TopologyError
from obliv.specs.registry import register_topology
from obliv.topologies.base import Heights, LayoutHint, Places, Topology, heights_of, layout_hint
from obliv.topologies.make import topology


class NothingLeftError(TopologyError):
    """Failures after which no terminal is left."""


_SHOWN = 3  # names of nodes in messages


@dataclass(frozen=True, eq=False, repr=False)
class Damaged(Topology):
    """A network of which some links or nodes failed; the nodes that are left keep their names.

    Parameters
    ----------
    base : Topology
        The network before the failures.
    failed : tuple of str
        What failed, as in the spec.
    node_of, channel_of : int array
        The number in `base` of every node and every channel.
    """

    base: Topology | None = None
    failed: tuple[str, ...] = ()
    node_of: NodeArray | None = None
    channel_of: Array | None = None

    @property
    def pattern_base(self) -> Topology:
        """The network before the failures if no terminal is lost."""
        return self.base if self.base is not None and len(self.terminals) == len(self.base.terminals) else self

    def describe(self) -> tuple[Any, ...]:
        """Return the heights that the nodes had before the failures, and their places."""
        heights = None if self.base is None else heights_of(self.base)
        return (*(() if heights is None else (Heights(heights[self.node_of]),)), Places(self._places))

    def _places(self) -> LayoutHint | None:
        """Return the places that the nodes had before the failures."""
        hint = None if self.base is None or self.node_of is None else layout_hint(self.base)
        if hint is None or self.node_of is None:
            return None
        hosts = self.node_of[self.node_of < hint.hosts]
        level, across = (None if given is None else given[self.node_of] for given in (hint.level, hint.across))
        return replace(hint, hosts=len(hosts), order=hint.order[hosts], level=level, across=across, missing=())


@register_topology("damaged", example="damaged:(fattree:4,2),8-12")
def damaged(network: str, *failed: str, component: str = "") -> Topology:
    """Another network after failures: a node, or a link A-B with its channels both ways; A-B#K of parallel links.

    Parameters
    ----------
    network : str
        The spec of the network; in parentheses if it has a comma.
    *failed : str
        What failed: a node, or the two ends of a link, as in ``3-7`` or ``(0,0)-(1,0)``. Of parallel links, in the
        order of their bandwidths, ``3-7#0`` is the first.
    component : str
        ``largest``: take the strongly connected component with the most terminals. Default: terminals that cannot
        reach each other are refused.

    Returns
    -------
    Topology
        Nodes and channels are numbered in their old order. A terminal that failed sends and takes nothing.

    Raises
    ------
    TopologyError
        If there is no such link or node, or the network falls apart.

    Examples
    --------
    >>> import obliv
    >>> obliv.topology("damaged:mesh:3x3,0-1,(2,2)")
    <Topology damaged:mesh:3x3,8,0-1: 8 nodes, 18 channels, 8 terminals>
    """
    inner = network[1:-1] if network.startswith("(") and network.endswith(")") else network
    if inner.strip().startswith("damaged"):
        raise SpecError("damaged: a damaged network inside another: name all that failed in one list")
    return without(topology(inner), failed, component)


def without(base: Topology, failed: Sequence[str], component: str = "") -> Damaged:
    """Return a network after failures; parameters are those of :func:`damaged`.

    Examples
    --------
    >>> import obliv
    >>> without(obliv.mesh(3, 3), ["0-1"]).channels
    22
    """
    named = f"({base.spec})" if "," in base.spec else base.spec
    if not failed:
        raise TopologyError(f"damaged:{named}: nothing failed: name nodes or links, as in damaged:{named},0-1")
    if component not in ("", "largest"):
        raise TopologyError(f"damaged:{named}: component is {component!r}: leave it out, or use largest")
    nodes, links = _failures(base, several(failed))
    texts = [node_text(base, node) for node in sorted(nodes)]
    texts += [link_text(base, min(link)) for link in sorted(links, key=min)]
    spec = f"damaged:{named},{','.join(texts)}" + f",component={component}" * bool(component)
    up = np.ones(base.nodes, np.bool_)
    up[list(nodes)] = False
    open_ = up[base.tail] & up[base.head]
    open_[[channel for link in links for channel in link]] = False
    if not up[base.terminals].any():
        raise NothingLeftError(f"{spec}: no terminal is left")
    notes = list(base.notes)
    up = _connected(base, up, open_, spec, component, notes)
    left = _left(base, up, open_ & up[base.tail] & up[base.head], spec, tuple(notes))
    return replace(left, failed=tuple(texts))


def link_of(base: Topology, channel: int) -> tuple[int, ...]:
    """Return the channels of a link: the given one, and its opposite where there is one."""
    tail, head = int(base.tail[channel]), int(base.head[channel])
    return next(link for link in _links(base, tail, head) if channel in link)


def link_text(base: Topology, channel: int) -> str:
    """Return how specs name the link of a channel, the lower node first where it goes both ways.

    Examples
    --------
    >>> import obliv
    >>> link_text(obliv.ring(4), 2), link_text(obliv.torus(2, 2), 0)
    ('1-2', '0-1#0')
    """
    link = link_of(base, channel)
    first = min(link)
    ends = int(base.tail[first]), int(base.head[first])
    parallel = _links(base, *ends)
    number = f"#{parallel.index(link)}" if len(parallel) > 1 else ""
    return "-".join(node_text(base, node) for node in ends) + number


def all_links(base: Topology) -> list[tuple[int, ...]]:
    """Return the channels of every link, as :func:`link_of` gives them, in the order of their first channels.

    Examples
    --------
    >>> import obliv
    >>> all_links(obliv.line(3))
    [(0, 2), (1, 3)]
    """
    low, high, place = _places(base)
    order = np.lexsort((np.arange(base.channels), place, high, low))
    keys = np.stack([low, high, place])[:, order]
    ends = np.flatnonzero(np.append((keys[:, 1:] != keys[:, :-1]).any(axis=0), True)) + 1
    begins = np.concatenate([[0], ends[:-1]])[: len(ends)]
    links = [tuple(order[begin:end].tolist()) for begin, end in zip(begins, ends, strict=True)] if len(order) else []
    return sorted(links)


def link_texts(base: Topology, links: Sequence[tuple[int, ...]]) -> list[str]:
    """Return how specs name links, as :func:`link_text` does.

    Examples
    --------
    >>> import obliv
    >>> link_texts(obliv.line(3), all_links(obliv.line(3)))
    ['0-1', '1-2']
    """
    names, (low, high, place) = node_texts(base), _places(base)
    pair = low.astype(np.int64) * base.nodes + high
    several = np.isin(pair, pair[place > 0]).tolist()
    tail, head, number = base.tail.tolist(), base.head.tolist(), place.tolist()
    firsts = [link[0] for link in links]
    return [f"{names[tail[c]]}-{names[head[c]]}" + (f"#{number[c]}" if several[c] else "") for c in firsts]


def node_texts(base: Topology) -> list[str]:
    """Return how specs name all nodes, as :func:`node_text` does."""
    labels = set(base.labels)
    return [node_text(base, node) if str(node) in labels else str(node) for node in range(base.nodes)]


def _places(base: Topology) -> tuple[Array, Array, Array]:
    """Return the ends of every channel, the lower node first, and its place among its parallel ones, by bandwidth."""
    tail, head = base.tail.astype(np.int64), base.head.astype(np.int64)
    rank = {speed: k for k, speed in enumerate(sorted(set(base.bandwidth)))}
    speed = np.array([rank[speed] for speed in base.bandwidth], np.int64) if rank else np.zeros(len(tail), np.int64)
    order = np.lexsort((np.arange(len(tail)), speed, head, tail))
    new = np.append(True, (np.diff(tail[order]) != 0) | (np.diff(head[order]) != 0))[: len(order)]
    place = np.empty(len(tail), np.int64)
    everyone = np.arange(len(order))
    place[order] = everyone - np.maximum.accumulate(np.where(new, everyone, 0))
    return np.minimum(tail, head), np.maximum(tail, head), place


def failure_name(base: Topology, text: str) -> str:
    """Return what failed by the names of its nodes, from a text of a spec.

    Examples
    --------
    >>> import obliv
    >>> failure_name(obliv.mesh(3, 3), "0-1")
    'link (0,0) - (1,0)'
    """
    found = _named(base, text)
    if isinstance(found, int):
        return f"node {base.name_of(found)}"
    ends = (base.name_of(int(end[found[0]])) for end in (base.tail, base.head))
    return "link " + " - ".join(ends) + "".join(text.rpartition("#")[1:] if "#" in text else ())


def node_text(base: Topology, node: int) -> str:
    """Return how specs name a node: its number, or its name where another node has that number as its name."""
    number = str(node)
    return base.name_of(node) if number in base.labels and base.node(number) != node else number


def _links(base: Topology, one: int, two: int) -> list[tuple[int, ...]]:
    """Return the links between two nodes, by bandwidth; parallel channels are paired with their opposites in order."""

    def channels(tail: int, head: int) -> list[int]:
        first, last = base.first_channel[tail : tail + 2].tolist()
        found = [c for c in range(first, last) if base.head[c] == head]
        return sorted(found, key=base.bandwidth_of)

    out, back = channels(one, two), channels(two, one)
    if one == two:
        return [(c,) for c in out]
    pairs = max(len(out), len(back))
    links = [(*out[k : k + 1], *back[k : k + 1]) for k in range(pairs)]
    return [tuple(sorted(link)) for link in links]


def _failures(base: Topology, failed: Iterable[str]) -> tuple[set[int], set[tuple[int, ...]]]:
    """Return the nodes and the links that failed."""
    nodes: set[int] = set()
    links: set[tuple[int, ...]] = set()
    for text in failed:
        found = _named(base, text.strip())
        if found in nodes or found in links:
            raise TopologyError(f"damaged: {text.strip()} of {base.spec} is named twice")
        if isinstance(found, int):
            nodes.add(found)
        else:
            links.add(found)
    return nodes, links


def _named(base: Topology, text: str) -> int | tuple[int, ...]:
    """Return the node, or the channels of the link, that a text names."""
    ends, hash_, number = text.partition("#")
    dashes = [match.start() for match in re.finditer("-", ends)]
    pairs = [(_node(base, ends[:at]), _node(base, ends[at + 1 :])) for at in dashes]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not known:
        if meant := _link_meant(base, text):
            raise TopologyError(f"damaged: {text!r} names no node of {base.spec}: write the link as {meant}")
        if len(dashes) == 1 and _node(base, text) is None:
            for end in ends.split("-"):
                base.node(end.strip())  # raises the error of the end that is unknown
        return base.node(text)
    if len(known) > 1 or _node(base, text) is not None:
        raise TopologyError(f"damaged: {text!r} can be read in several ways: use the numbers of the nodes")
    links = _links(base, *known[0])
    names = " and ".join(base.name_of(node) for node in known[0])
    if not links:
        one = known[0][0]
        heads = sorted(set(base.head[slice(*base.first_channel[one : one + 2].tolist())].tolist()))
        raise TopologyError(
            f"damaged: no link of {base.spec} joins {names}"
            + (f"; {base.name_of(one)} has links to {_some_names(base, heads)}" if heads else "")
        )
    if not hash_ and len(links) > 1:
        raise TopologyError(
            f"damaged: {len(links)} links of {base.spec} join {names}: write {ends}#0 to {ends}#{len(links) - 1}"
        )
    if hash_ and not (number.isdecimal() and int(number[:9]) < len(links)):
        raise TopologyError(f"damaged: {text!r}: {names} have {plural(len(links), 'link')}, counted from 0")
    return links[int(number or 0)]


def _link_meant(base: Topology, text: str) -> str:
    """Return the link that a text with another sign between its ends may mean; "" where there is none."""
    for match in re.finditer(r"\s*(?:<->|->|→|,|;|:|\sto\s)\s*", text):
        ends = [_node(base, end) for end in (text[: match.start()], text[match.end() :])]
        if None not in ends and _links(base, *(end for end in ends if end is not None)):
            return f"{text[: match.start()].strip()}-{text[match.end() :].strip()}"
    return ""


def _some_names(base: Topology, nodes: list[int]) -> str:
    """Return the names of the first and last few nodes: on trees those of the level below and the one above."""
    shown = nodes if len(nodes) <= 2 * _SHOWN else [*nodes[:_SHOWN], *nodes[-_SHOWN:]]
    more = plural(len(nodes) - len(shown), "other")
    return ", ".join(map(base.name_of, shown)) + (f" and {more}" if len(shown) < len(nodes) else "")


def _node(base: Topology, text: str) -> int | None:
    try:
        return base.node(text.strip())
    except InputError:
        return None


def _connected(base: Topology, up: Array, open_: Array, spec: str, component: str, notes: list[str]) -> Array:
    """Return the nodes of the strongly connected component with the terminals that are left, or with most of them.

    Nodes outside it carry nothing. Terminals outside it are refused unless the largest component is asked for.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(int(open_.sum())), (base.tail[open_], base.head[open_])), shape=(base.nodes,) * 2)
    count, member = connected_components(graph, directed=True, connection="strong")
    alive = base.terminals[up[base.terminals]]
    ends = np.bincount(member[alive], minlength=count)
    order = np.lexsort((-np.bincount(member), -ends))[: np.count_nonzero(ends)].tolist()
    if len(order) > 1 and not component:
        parts = [_some(base, np.flatnonzero(member == part)) for part in order[:_SHOWN]]
        more = f"; and {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""
        remedy = "component=largest takes the largest" if ends.max() > 1 else "no two terminals are joined: fail less"
        raise TopologyError(
            f"{spec}: the network falls into {len(order)} components: {'; '.join(parts)}{more}; {remedy}"
        )
    left: Array = up & (member == order[0])
    if not left[up].all():
        notes.append(f"cut off by the failures: {_some(base, np.flatnonzero(up & ~left))}")
    return left


def _some(base: Topology, nodes: Array) -> str:
    names = ", ".join(base.name_of(node) for node in nodes[:_SHOWN].tolist())
    return f"{plural(len(nodes), 'node')} ({names}{', ...' if len(nodes) > _SHOWN else ''})"


def _left(base: Topology, up: Array, open_: Array, spec: str, notes: tuple[str, ...]) -> Damaged:
    """Return the network of the nodes and channels that are left."""
    number = np.cumsum(up) - 1
    nodes, channels = np.flatnonzero(up), np.flatnonzero(open_)
    alive = np.flatnonzero(up[base.terminals])

    names = tuple(base.name_of(node) for node in nodes.tolist())

    def of(values: tuple, which: Array) -> tuple:  # type: ignore[type-arg]
        return tuple(values[k] for k in which.tolist()) if values else ()

    return Damaged(
        spec=spec,
        nodes=len(nodes),
        tail=number[base.tail[channels]].astype(np.int32),
        head=number[base.head[channels]].astype(np.int32),
        terminals=number[base.terminals[alive]].astype(np.int32),
        bandwidth=of(base.bandwidth, channels),
        injection=of(base.injection, alive),
        ejection=of(base.ejection, alive),
        labels=() if names == tuple(map(str, range(len(nodes)))) else names,
        positions=None if base.positions is None else base.positions[nodes],
        sources=base.sources,
        notes=notes,
        base=base,
        node_of=nodes.astype(np.int32),
        channel_of=channels,
    )
