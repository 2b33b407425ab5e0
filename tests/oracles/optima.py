"""Optima by plain linear programs of SciPy, without symmetry: a column for every pair, channel, potential or path."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, lil_array

import obliv

Link = tuple[int, int]
WeightedPath = tuple[Sequence[int], float]  # channels, probability


def least_load_of(network: obliv.Topology, demand: Sequence[Sequence[Fraction | int]]) -> float:
    """Return the least largest load by a plain linear program, with a flow for each pair."""
    terminals, channels, nodes = network.terminals.tolist(), network.channels, network.nodes
    n = len(terminals)
    pairs = [(s, d) for s in range(n) for d in range(n) if s != d and demand[s][d]]
    equal, right = np.zeros((len(pairs) * nodes, len(pairs) * channels + 1)), np.zeros(len(pairs) * nodes)
    bound = np.zeros((channels, len(pairs) * channels + 1))
    for p, (s, d) in enumerate(pairs):
        right[p * nodes + terminals[s]], right[p * nodes + terminals[d]] = demand[s][d], -demand[s][d]
        for c in range(channels):
            equal[p * nodes + network.tail[c], p * channels + c] += 1
            equal[p * nodes + network.head[c], p * channels + c] -= 1
            bound[c, p * channels + c] = 1
    bound[:, -1] = [-float(network.bandwidth_of(c)) for c in range(channels)]
    cost = np.zeros(len(pairs) * channels + 1)
    cost[-1] = 1
    return float(linprog(cost, bound, np.zeros(channels), equal, right).fun)


def least_load(
    nodes: int,
    links: Sequence[tuple[int, int]],
    terminals: Sequence[int],
    bandwidth: Sequence[float] = (),
    injection: Sequence[float] = (),
    ejection: Sequence[float] = (),
) -> float:
    """Return the least worst-case load of all oblivious routings, approximately."""
    n, channels = len(terminals), len(links)
    speed = bandwidth or [1.0] * channels
    send, take = injection or [1.0] * n, ejection or [1.0] * n
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    flow = {(p, c): k for k, (p, c) in enumerate((p, c) for p in range(len(pairs)) for c in range(channels))}
    side = len(flow) + np.arange(2 * n * channels).reshape(2, n, channels)
    worst = len(flow) + side.size
    equal = lil_array((len(pairs) * nodes, worst + 1))
    right = np.zeros(len(pairs) * nodes)
    bound = lil_array((len(flow) + channels, worst + 1))
    for p, (i, j) in enumerate(pairs):
        for v in range(nodes):
            right[p * nodes + v] = (v == terminals[i]) - (v == terminals[j])
        for c, (tail, head) in enumerate(links):
            equal[p * nodes + tail, flow[p, c]] += 1
            equal[p * nodes + head, flow[p, c]] -= 1
            row = flow[p, c]
            bound[row, flow[p, c]], bound[row, side[0, i, c]], bound[row, side[1, j, c]] = 1, -1, -1
    for c in range(channels):
        row = len(flow) + c
        for i in range(n):
            bound[row, side[0, i, c]], bound[row, side[1, i, c]] = send[i], take[i]
        bound[row, worst] = -speed[c]
    cost = np.zeros(worst + 1)
    cost[worst] = 1
    answer = linprog(cost, bound.tocsr(), np.zeros(len(flow) + channels), equal.tocsr(), right, method="highs")
    assert answer.status == 0, answer.message
    return float(answer.fun)


def least_ratio(
    nodes: int, links: Sequence[tuple[int, int]], terminals: Sequence[int], bandwidth: Sequence[float] = ()
) -> float:
    """Return the least oblivious performance ratio of all routings, approximately."""
    n, channels = len(terminals), len(links)
    speed = list(bandwidth) or [1.0] * channels
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    flows = len(pairs) * channels
    distance = flows + np.arange(channels * n * nodes).reshape(channels, n, nodes)
    price = flows + distance.size + np.arange(channels**2).reshape(channels, channels)
    ratio = flows + distance.size + price.size
    equal: list[tuple[int, int, float]] = []
    right = np.zeros(len(pairs) * nodes)
    below: list[tuple[int, int, float]] = []
    rows = 0
    for p, (i, j) in enumerate(pairs):
        right[p * nodes + terminals[i]], right[p * nodes + terminals[j]] = 1, -1
        for c, (tail, head) in enumerate(links):
            equal += [(p * nodes + tail, p * channels + c, 1), (p * nodes + head, p * channels + c, -1)]
            below += [(rows, p * channels + c, 1 / speed[c]), (rows, distance[c, i, terminals[j]], -1)]
            rows += 1
    for c in range(channels):
        for h, (tail, head) in enumerate(links):
            for i in range(n):
                if head == terminals[i]:
                    continue
                below += [(rows, distance[c, i, head], 1), (rows, price[c, h], -1)]
                if tail != terminals[i]:
                    below.append((rows, distance[c, i, tail], -1))
                rows += 1
        below += [(rows, price[c, h], speed[h]) for h in range(channels)]
        below.append((rows, ratio, -1))
        rows += 1

    def sparse(entries: list[tuple[int, int, float]], count: int) -> coo_array:
        row, column, value = zip(*entries, strict=True)
        return coo_array((value, (row, column)), shape=(count, ratio + 1)).tocsr()

    cost = np.zeros(ratio + 1)
    cost[ratio] = 1
    answer = linprog(cost, sparse(below, rows), np.zeros(rows), sparse(equal, len(right)), right, method="highs")
    assert answer.status == 0, answer.message
    return float(answer.fun)


def oblivious_ratio(
    nodes: int,
    links: Sequence[tuple[int, int]],
    terminals: Sequence[int],
    paths: Mapping[tuple[int, int], Sequence[WeightedPath]],
    bandwidth: Sequence[float] = (),
) -> float:
    """Return the largest load over that of the best routing, approximately; `paths` by node numbers of pairs."""
    speed = bandwidth or [1.0] * len(links)
    pairs = [(i, j) for i in terminals for j in terminals if i != j]
    channels = len(links)
    columns = len(pairs) * (channels + 1)  # of every pair the flow over each channel, and the traffic
    equal = lil_array((len(pairs) * nodes, columns))
    bound = lil_array((channels, columns))
    for p, (i, j) in enumerate(pairs):
        for c, (tail, head) in enumerate(links):
            equal[p * nodes + tail, p * channels + c] += 1
            equal[p * nodes + head, p * channels + c] -= 1
            bound[c, p * channels + c] = 1
        equal[p * nodes + i, len(pairs) * channels + p] = -1
        equal[p * nodes + j, len(pairs) * channels + p] = 1
    load = np.zeros((channels, len(pairs)))
    for p, pair in enumerate(pairs):
        for taken, share in paths[pair]:
            for c in taken:
                load[c, p] += float(share)
    best = 0.0
    for c in range(channels):
        cost = np.zeros(columns)
        cost[len(pairs) * channels :] = -load[c] / speed[c]
        solved = linprog(cost, bound.tocsr(), speed, equal.tocsr(), np.zeros(len(pairs) * nodes), method="highs")
        best = max(best, -solved.fun)
    return best


def simple_paths(links: Sequence[Link], source: int, end: int) -> Iterator[tuple[int, ...]]:
    """Yield every path of links that visits no node twice."""
    trail: list[tuple[int, tuple[int, ...], frozenset[int]]] = [(source, (), frozenset([source]))]
    while trail:
        node, path, seen = trail.pop()
        if node == end:
            yield path
            continue
        for link, (tail, head) in enumerate(links):
            if tail == node and head not in seen:
                trail.append((head, (*path, link), seen | {head}))


def turns(steps: Sequence[tuple[int, int]], counts: Callable[[int, int], bool]) -> int | None:
    """Return the turns from a dimension to another that count, by (dimension, sign) of each hop; None for a U-turn."""
    total = 0
    for (dim, sign), (other, its) in itertools.pairwise(steps):
        if dim == other and sign != its:
            return None
        total += dim != other and counts(dim, other)
    return total


def least_load_over(
    links: Sequence[Link],
    terminals: Sequence[int],
    legal: Callable[[tuple[int, ...]], bool],
    bandwidth: Sequence[float],
    injection: Sequence[float],
    ejection: Sequence[float],
) -> float:
    """Return the least worst-case load of the routings over legal simple paths, approximately."""
    n, channels = len(terminals), len(links)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    paths = [[p for p in simple_paths(links, terminals[i], terminals[j]) if legal(p)] for i, j in pairs]
    total = sum(map(len, paths))
    side = total + np.arange(2 * n * channels).reshape(2, n, channels)
    worst = total + side.size
    ones, covers, column = [], [], 0
    for k, ((i, j), of_pair) in enumerate(zip(pairs, paths, strict=True)):
        for path in of_pair:
            ones.append((k, column, 1.0))
            covers += [(k * channels + c, column, 1.0) for c in path]
            column += 1
        covers += [(k * channels + c, side[0, i, c], -1.0) for c in range(channels)]
        covers += [(k * channels + c, side[1, j, c], -1.0) for c in range(channels)]
    rows = len(pairs) * channels
    for c in range(channels):
        covers += [(rows + c, side[0, i, c], injection[i]) for i in range(n)]
        covers += [(rows + c, side[1, i, c], ejection[i]) for i in range(n)]
        covers.append((rows + c, worst, -bandwidth[c]))
    cost = np.zeros(worst + 1)
    cost[worst] = 1
    above = _table(covers, (rows + channels, worst + 1))
    answer = linprog(
        cost,
        above,
        np.zeros(rows + channels),
        _table(ones, (len(pairs), worst + 1)),
        np.ones(len(pairs)),
        method="highs",
    )
    assert answer.status == 0, answer.message
    return float(answer.fun)


def _table(entries: Sequence[tuple[int, int, float]], shape: tuple[int, int]) -> object:
    row, column, value = zip(*entries, strict=True)
    return coo_array((value, (row, column)), shape=shape).tocsr()
