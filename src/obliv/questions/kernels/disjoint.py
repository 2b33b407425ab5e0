"""Kernels: node-disjoint pairs on the links of a fat tree under a routing of single paths.

``path[r, d]`` is the number of the path from the hosts r · alike .. (r + 1) · alike - 1, which share it, to host d;
see :class:`obliv.topologies.trees.Tree` for numbers of paths and of links. ``port[turn, path]`` is the part of it
that tells links of one height apart, and a link of a height is (sub-tree, port).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class RowRoutes(NamedTuple):
    """The path number of every (row of hosts, host), how many hosts share a row, and the hosts below each level."""

    path: Array
    alike: int
    below: Array


class Side(NamedTuple):
    """The links of one height and direction: the port of every (turn, path number), and how many ports there are."""

    port: Array
    height: int
    up: bool
    ports: int


class Adjacency(NamedTuple):
    """The hosts that rows have pairs with on a link: row r those of ``to[ptr[r]:ptr[r + 1]]``."""

    ptr: Array
    to: Array


class RowSearch(NamedTuple):
    """Scratch of a search: the host that a row would give up, the row that would take it, and the rows to visit."""

    via: Array
    before: Array
    queue: Array


@kernel
def _turn(a: int, b: int, below: Array) -> int:
    level = 0
    while a // below[level] != b // below[level]:
        level += 1
    return level


@kernel
def link_bounds(routes: RowRoutes, side: Side, sources: Array, destinations: Array) -> None:
    """Count the sources and the destinations of the pairs on every link of one side."""
    path, alike, below = routes
    port, height, up, ports = side
    rows, hosts = path.shape
    size = below[height]
    row_size = max(1, size // alike)
    last = np.empty(ports, np.int64)
    seen = np.empty((row_size if up else size, ports), np.bool_)
    for sub in range(hosts // size):
        last[:] = -1
        seen[:] = False
        base = sub * ports
        if up:
            for d in range(hosts):
                turn = _turn(sub * size, d, below)
                if turn <= height:
                    continue
                for r in range(row_size):
                    p = port[turn, path[sub * row_size + r, d]]
                    if last[p] != d:
                        last[p] = d
                        destinations[base + p] += 1
                    if not seen[r, p]:
                        seen[r, p] = True
                        sources[base + p] += alike
        else:
            for r in range(rows):
                turn = _turn(r * alike, sub * size, below)
                if turn <= height:
                    continue
                for d in range(size):
                    p = port[turn, path[r, sub * size + d]]
                    if last[p] != r:
                        last[p] = r
                        sources[base + p] += alike
                    if not seen[d, p]:
                        seen[d, p] = True
                        destinations[base + p] += 1


@kernel
def _mark(row: int, routes: RowRoutes, side: Side, port: int, first: int, used: Array) -> int:
    """Mark the hosts from `first` on that a row reaches through a port; return how many there are."""
    path, alike, below = routes
    count = 0
    for k in range(len(used)):
        turn = _turn(row * alike, first + k, below)
        used[k] = turn > side.height and side.port[turn, path[row, first + k]] == port
        count += used[k]
    return count


@kernel
def _pairs_on_link(routes: RowRoutes, side: Side, link: int) -> Adjacency:
    """Return the pairs of rows and hosts whose path uses a link."""
    rows, hosts = routes.path.shape
    sub, port = link // side.ports, link % side.ports
    size = routes.below[side.height]
    first_row, end_row = (sub * size // routes.alike, (sub + 1) * size // routes.alike) if side.up else (0, rows)
    first_host = 0 if side.up else sub * size
    used = np.zeros(hosts if side.up else size, np.bool_)
    ptr = np.zeros(rows + 1, np.int64)
    for r in range(rows):
        inside = first_row <= r < end_row
        ptr[r + 1] = ptr[r] + (_mark(r, routes, side, port, first_host, used) if inside else 0)
    to = np.empty(ptr[rows], np.int64)
    for r in range(first_row, end_row):
        _mark(r, routes, side, port, first_host, used)
        at = ptr[r]
        for host in range(len(used)):
            if used[host]:
                to[at] = first_host + host
                at += 1
    return Adjacency(ptr, to)


@kernel
def _augment(root: int, pairs: Adjacency, owner: Array, reached: Array, search: RowSearch) -> bool:
    """Give a row one more host, moving others on along a shortest alternating path; False where there is no path.

    The rows on alternating paths are marked in `reached`, which is cleared where a path is found.
    """
    ptr, to = pairs
    via, before, queue = search
    head, tail = 0, 1
    queue[0] = root
    reached[root] = True
    before[root] = -1
    while head < tail:
        r = queue[head]
        head += 1
        for e in range(ptr[r], ptr[r + 1]):
            d = to[e]
            other = owner[d]
            if other < 0:
                while r >= 0:
                    owner[d] = r
                    d = via[r]
                    r = before[r]
                for k in range(tail):
                    reached[queue[k]] = False
                return True
            if not reached[other]:
                reached[other] = True
                via[other] = d
                before[other] = r
                queue[tail] = other
                tail += 1
    return False


@kernel
def match_link(routes: RowRoutes, side: Side, link: int, enough: int, owner: Array, reached: Array) -> int:
    """Find the largest number of node-disjoint pairs on a link; stop at `enough`.

    On return ``owner[d]`` is the row that destination d is matched to, or -1, and ``reached[r]`` says whether row r is
    on an alternating path from a row that could send more: the rows that are not, and the destinations that those that
    are have pairs with, cover all pairs.
    """
    pairs = _pairs_on_link(routes, side, link)
    ptr, to = pairs
    rows = len(reached)
    owner[:] = -1
    reached[:] = False
    sent = np.zeros(rows, np.int64)
    total = 0
    for r in range(rows):
        for e in range(ptr[r], ptr[r + 1]):
            if sent[r] < routes.alike and owner[to[e]] < 0:
                owner[to[e]] = r
                sent[r] += 1
                total += 1
    search = RowSearch(np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64))
    for root in range(rows):
        while sent[root] < routes.alike and ptr[root + 1] > ptr[root] and not reached[root] and total < enough:
            if _augment(root, pairs, owner, reached, search):
                sent[root] += 1
                total += 1
    return total
