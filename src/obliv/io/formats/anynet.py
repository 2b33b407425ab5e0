"""Network files of BookSim2's topology ``anynet``, and networks of SNDlib in its native format."""

from __future__ import annotations

import heapq
import re
from fractions import Fraction
from pathlib import Path

from obliv._util import sndlib
from obliv._util.text import lines, plural, shown
from obliv.errors import FileError
from obliv.io.formats.gml import require_plain, save
from obliv.io.formats.links import FileLinks, ReadOptions, from_file
from obliv.topologies.base import Topology

_WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)
_KINDS = ("router", "node")


def read_anynet(path: str | Path, *, terminals: str = "", component: str = "") -> Topology:
    r"""Read an anynet file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "two.anynet")
    >>> _ = path.write_text("router 0 node 0 node 1 router 1\nrouter 1 node 2\n")
    >>> read_anynet(path).terminals.tolist()
    [1, 2, 4]
    """
    return from_file(path, parse, ReadOptions(terminals=terminals, component=component), format="anynet")


def write_anynet(topology: Topology, path: str | Path) -> None:
    """Write a topology as an anynet file of BookSim2.

    If every terminal is joined to one other node by one link, terminals become the file's nodes and all else routers
    (numbered as their labels ``router 3`` say, or in order). Otherwise every node becomes a router, with a node of the
    file beside each terminal. Terminal k is node k in both cases. The format has no comments, and so no place for
    coordinates and positions.
    """
    require_plain(topology, "BookSim2's anynet", linked=False)
    names, near = hosts_and_routers(topology)
    router = [name.startswith("router") for name in names]
    out: list[list[int]] = [[]]
    named = 0  # the file names all routers below this number already
    for low, high in _merged(near):
        # a line of its own for each router that must be named before this link, unless the link itself names it
        out += [[node] for node in range(named, high - (low == high - 1)) if router[node]]
        named = max(named, high + 1)
        # BookSim2 takes the number of the first one in a line for a router's, whatever it is
        if out[-1] and out[-1][0] in (low, high) and router[out[-1][0]]:
            out[-1].append(high if out[-1][0] == low else low)
        else:
            out.append([low, high] if router[low] else [high, low])
    out += [[node] for node in range(named, len(near)) if router[node]]
    save(path, "".join(" ".join(names[node] for node in line) + "\n" for line in out if line))


def hosts_and_routers(topology: Topology) -> tuple[list[str], list[list[int]]]:
    """Return a name of every node of the file, and its neighbors in the order of its channels."""
    near: list[list[int]] = [[] for _ in range(topology.nodes)]
    for tail, head in zip(topology.tail.tolist(), topology.head.tolist(), strict=True):
        near[tail].append(head)
    host = {node: k for k, node in enumerate(topology.terminals.tolist())}
    if all(len(near[node]) == 1 and near[node][0] not in host for node in host):
        routers = [node for node in range(topology.nodes) if node not in host]
        own = [topology.labels[node] if topology.labels else "" for node in routers]
        if sorted(own) != sorted(f"router {k}" for k in range(len(routers))):
            own = [f"router {k}" for k in range(len(routers))]
        named = dict(zip(routers, own, strict=True))
        return [f"node {host[node]}" if node in host else named[node] for node in range(topology.nodes)], near
    names: list[str] = []
    at: list[int] = []
    for node in range(topology.nodes):
        at.append(len(names))
        names += [f"router {node}"] + ([f"node {host[node]}"] if node in host else [])
    with_hosts: list[list[int]] = []
    for node, others in enumerate(near):
        own_host = [at[node] + 1] if node in host else []
        with_hosts.append(own_host + [at[other] for other in others])
        with_hosts += [[at[node]] for _ in own_host]
    return names, with_hosts


def _merged(near: list[list[int]]) -> list[tuple[int, int]]:
    """Return all links in an order that agrees with every node's order of neighbors, if there is such an order.

    A link may come next once it is the next one at both its ends. The one with the lowest nodes goes first, so that the
    nodes of a file that was read are written in the same order.
    """
    place = [{other: k for k, other in enumerate(others)} for others in near]
    at = [0] * len(near)
    done: set[tuple[int, int]] = set()
    waiting = sorted({(max(a, b), min(a, b)) for a, others in enumerate(near) for b in others}, reverse=True)
    ready = [(high, low) for high, low in waiting if place[high][low] == 0 and place[low][high] == 0]
    heapq.heapify(ready)
    order = []
    while waiting:
        if ready:
            high, low = heapq.heappop(ready)
        else:  # the nodes' orders contradict one another
            high, low = waiting.pop()
        if (high, low) in done:
            continue
        done.add((high, low))
        order.append((low, high))
        for node in (high, low):
            others = near[node]
            while at[node] < len(others) and (max(node, others[at[node]]), min(node, others[at[node]])) in done:
                at[node] += 1
            if at[node] < len(others):
                other = others[at[node]]
                if at[other] == place[other][node]:
                    heapq.heappush(ready, (max(node, other), min(node, other)))
    return order


def parse(text: str, path: object = None) -> FileLinks:
    """Parse an anynet text."""
    links = FileLinks(path)
    host: dict[int, tuple[int, int]] = {}  # node: its router, and the line
    joined: set[tuple[int, int]] = set()
    used: dict[str, set[int]] = {"router": set(), "node": set()}
    latencies = spaced = 0
    heads: dict[int, int] = {}  # node at the head of a line: the line
    for number, line in enumerate(lines(text), 1):
        words = line.split()
        if not words:
            continue
        spaced = spaced or (number if line.rstrip() != " ".join(words) else 0)
        (head, *body), counted = _line(words, path, number)
        latencies += counted
        if head[0] == "node":
            heads.setdefault(head[1], number)
        for kind, k in (head, *body):
            used[kind].add(k)
            links.mention(f"{kind} {k}", number)
        for other in body:
            if head[0] == other[0] == "node":
                raise FileError(f"node {head[1]} and node {other[1]} are joined: a node joins a router", path, number)
            if head[0] == other[0]:
                pair = (min(head[1], other[1]), max(head[1], other[1]))
                if pair in joined:
                    continue
                joined.add(pair)
            else:
                node, router = (head[1], other[1]) if head[0] == "node" else (other[1], head[1])
                if node in host:
                    first, where = host[node]
                    if first != router:
                        what = f"node {node} is at router {router}, and at router {first} in line {where}"
                        raise FileError(f"{what}: a node has one router", path, number)
                    continue
                host[node] = (router, number)
            links.join(f"{head[0]} {head[1]}", f"{other[0]} {other[1]}", number)
    _require_whole(used, host, path)
    links.terminals = [links.mention(f"node {k}") for k in range(len(host))]
    links.notes += _remarks(latencies, spaced, {k: line for k, line in heads.items() if k not in used["router"]})
    return links


def _remarks(latencies: int, spaced: int, alone: dict[int, int]) -> list[str]:
    """Return what BookSim2 reads otherwise, given the lines that begin with a node whose number no router has."""
    remarks = []
    if latencies:
        remarks.append(f"latencies are ignored ({latencies} are given)")
    if spaced:
        remarks.append(f"line {spaced} has tabs or repeated spaces, BookSim2 itself takes single spaces only")
    if alone:
        node = min(alone, key=alone.__getitem__)
        remarks.append(
            f"line {alone[node]} begins with node {node}: BookSim2 itself would add a router {node}, and hang"
        )
    return remarks


def _line(words: list[str], path: object, number: int) -> tuple[list[tuple[str, int]], int]:
    """Return the head and its neighbors as (kind, number), and the number of latencies between them."""
    joined: list[tuple[str, int]] = []
    latencies = at = 0
    timed = True  # no latency may follow the head
    while at < len(words):
        if words[at] in _KINDS:
            if at + 1 == len(words) or not _WHOLE.match(words[at + 1]):
                what = "nothing follows" if at + 1 == len(words) else f"{shown(words[at + 1])} follows"
                raise FileError(f"{words[at]} needs a whole number after it, {what}", path, number)
            joined.append((words[at], int(words[at + 1])))
            timed = len(joined) == 1
            at += 2
        elif not timed and _WHOLE.match(words[at]):
            latencies += 1
            timed = True
            at += 1
        else:
            form = "a line is like  router 0 node 0 node 1 router 1 5  and has no comments"
            raise FileError(f"{shown(words[at])} is not expected here; {form}", path, number)
    return joined, latencies


def _require_whole(used: dict[str, set[int]], host: dict[int, tuple[int, int]], path: object) -> None:
    if not used["router"]:
        raise FileError("there is no router in it; a line is  router 0 node 0 node 1 router 1", path)
    for kind in _KINDS:
        count = len(used[kind])
        if used[kind] and max(used[kind]) >= count:
            missing = next(k for k in range(count + 1) if k not in used[kind])
            raise FileError(
                f"{kind} {missing} is missing: the {count} {kind}s must be numbered 0 to {count - 1} without gaps", path
            )
    for node in sorted(used["node"] - host.keys()):
        raise FileError(f"node {node} has no router: write  router R node {node}", path)


# Networks of SNDlib in its native format; their demands are the traffic ``demands:PATH``


def read_sndlib(path: str | Path, *, bandwidth: str = "", default: str = "", component: str = "") -> Topology:
    r"""Read a network of SNDlib in its native format.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pair.txt")
    >>> _ = path.write_text("NODES ( a ( 0 0 ) b ( 1 0 ) ) LINKS ( l ( a b ) 0 0 0 0 ( 40 1 ) )")
    >>> read_sndlib(path, bandwidth="capacity").bandwidth_of(0)
    Fraction(40, 1)
    """
    return from_file(path, parse_sndlib, ReadOptions(bandwidth, default, component=component), format="sndlib")


def parse_sndlib(text: str, path: object = None) -> FileLinks:
    """Parse a network of SNDlib."""
    network = sndlib.parse(text, path)
    links = FileLinks(path)
    for node in network.nodes:
        links.declare(node.name, node.line, {})
    links.positions = [(float(node.x), float(node.y)) for node in network.nodes]
    merged: dict[tuple[str, str], sndlib.Link] = {}
    sums: dict[tuple[str, str], dict[str, Fraction]] = {}
    for link in network.links:
        module = link.modules[0] if link.modules else Fraction(0)
        ends = (min(link.source, link.target), max(link.source, link.target))
        merged.setdefault(ends, link)
        total = sums.setdefault(ends, dict.fromkeys(("preinstalled", "module", "capacity"), Fraction(0)))
        for name, capacity in zip(total, (link.installed, module, link.installed or module), strict=True):
            total[name] += capacity
    for ends, link in merged.items():
        attributes = {name: str(value) for name, value in sums[ends].items() if value}
        links.join(link.source, link.target, link.line, attributes)
    if merged:
        links.notes.append(
            f"{plural(len(merged), 'link')} taken as undirected: two channels each, both with the full capacity"
        )
    if parallel := len(network.links) - len(merged):
        links.notes.append(
            f"{plural(parallel, 'parallel link')} merged: one link for each pair of nodes, capacities added"
        )
    if network.demands:
        where = f"demands:{path}" if path is not None else "demands:PATH"
        links.notes.append(f"{plural(len(network.demands), 'demand')} in it: use them as the traffic  {where}")
    return links
