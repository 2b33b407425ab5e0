"""Kernels of flows: from one source along next hops, over numbered paths of fat trees, by programs of phases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array
from obliv.kernels import kernel


class HopTables(NamedTuple):
    """Next hops towards every target, target after target and node after node.

    Node v towards target t takes the channels ``hop[ptr[t * nodes + v]:ptr[t * nodes + v + 1]]`` with probabilities
    share / total; ``order[t * nodes:]`` holds the nodes, each before its next hops, then -1, and
    ``place[t * nodes + v]`` says where v stands there.
    """

    targets: Array
    order: Array
    place: Array
    ptr: Array
    hop: Array
    share: Array
    total: Array
    head: Array


class CartesianNetwork(NamedTuple):
    """A Cartesian network of lines and rings.

    ``port[x, side, node]`` is the channel up (side 0) or down (1) dimension x, -1 where there is none.
    """

    radix: Array
    stride: Array
    ring: Array
    port: Array
    channels: int


class Phases(NamedTuple):
    """The phases of a program.

    ``when[x]`` says whether the program serves pairs that differ in dimension x (1), that do not (0), or both (-1);
    ``spread[x]`` whether a ring is traveled either way round whatever the distance.  Phase p leads to the intermediate
    (``target[p]`` 0) or to the destination (1), by the orders ``first[p] .. first[p + 1] - 1``; step k of order o moves
    along dimension ``order[o, k]`` and counts ``weight[o, k]``, over `scale`.
    """

    when: Array
    spread: Array
    target: Array
    first: Array
    order: Array
    weight: Array
    scale: int


class Shapes(NamedTuple):
    """What packets put on the steps from the cells of boxes, shape after shape.

    A box of lengths n has the shape Σ_x (n_x - 1) · ``place[x]``. Its entries are ``start[shape] .. start[shape + 1]``:
    a step along ``dim`` from ``cell`` carries `load`, over ``whole[shape]``. For `when` see :class:`Phases`.
    """

    when: Array
    place: Array
    start: Array
    dim: Array
    cell: Array
    load: Array
    whole: Array


class Output(NamedTuple):
    """Entries of sources: those of source s for destination d end at ``end[s, d]``, amounts are over ``whole[d]``."""

    end: Array
    whole: Array
    channel: Array
    amount: Array


class Used(NamedTuple):
    """Loads of channels for one destination, and which of them are not zero: ``touched[:number[0]]``."""

    load: Array
    touched: Array
    number: Array


@kernel
def order_of(
    goal: int, terminals: Array, head: Array, ptr: Array, hop: Array, state: Array, stack: Array, order: Array
) -> int:
    """Store nodes on the way from terminals to a goal, each before its next hops, then -1.

    Returns -1, a node without next hops that is not the goal, or -2 for a loop. `state` must be 0.
    """
    last = len(order)
    for root in terminals:
        depth = 0
        if state[root] == 0:
            stack[0] = root
            depth = 1
        while depth > 0:
            v = stack[depth - 1]
            if state[v] == 0:  # entered for the first time; 1 while its next hops are followed, then 2
                state[v] = 1
                if ptr[v] == ptr[v + 1] and v != goal:
                    return int(v)
                for e in range(ptr[v], ptr[v + 1]):
                    w = head[hop[e]]
                    if state[w] == 1:
                        return -2
                    if state[w] == 0:
                        stack[depth] = w
                        depth += 1
            else:
                depth -= 1
                if state[v] == 1:
                    state[v] = 2
                    last -= 1
                    order[last] = v
    count = len(order) - last
    for k in range(count):
        order[k] = order[last + k]
    for k in range(count, len(order)):
        order[k] = -1
    return -1


@kernel
def hop_flow(sources: Array, first: int, last: int, tables: HopTables, unit: int, mass: Array, out: Output) -> int:
    """Send `unit` from each of some sources to targets `first` to `last`, nodes taken in topological order.

    Sources take turns, target after target, as the next hops towards a target are then at hand. `mass` holds a zero for
    every node before and after.  Returns the first target that was not reached, for `last` or for want of room, or
    -1 - target where `unit` cannot be divided as the hops ask.
    """
    targets, order, place, ptr, hop, share, total, head = tables
    nodes = len(mass)
    waiting = np.empty(nodes, np.int64)  # where the nodes stand that hold mass, the first one last
    for t in range(first, last):
        base = t * nodes
        for k in range(len(sources)):
            size = 0
            if t > first:
                size = out.end[k, t - 1]
            count = 0
            if sources[k] != targets[t]:
                mass[sources[k]] = unit
                waiting[0] = place[base + sources[k]]
                count = 1
            while count > 0:
                count -= 1
                v = order[base + waiting[count]]
                amount = mass[v]
                mass[v] = 0
                if v == targets[t]:
                    continue
                if size + ptr[base + v + 1] - ptr[base + v] > out.channel.shape[1]:
                    for other in range(nodes):
                        mass[other] = 0
                    return t
                for e in range(ptr[base + v], ptr[base + v + 1]):
                    part = amount * share[e] // total[base + v]
                    if part * total[base + v] != amount * share[e]:
                        return -1 - t
                    out.channel[k, size] = hop[e]
                    out.amount[k, size] = part
                    size += 1
                    w = head[hop[e]]
                    if mass[w] == 0:
                        at = count
                        while at > 0 and waiting[at - 1] < place[base + w]:
                            waiting[at] = waiting[at - 1]
                            at -= 1
                        waiting[at] = place[base + w]
                        count += 1
                    mass[w] += part
            out.end[k, t] = size
        out.whole[t] = unit
    return last


@kernel
def _serves(source: int, destination: int, radix: Array, stride: Array, when: Array) -> bool:
    """Whether a program serves a pair of nodes."""
    for x in range(len(radix)):
        differ = destination // stride[x] % radix[x] != source // stride[x] % radix[x]
        if when[x] >= 0 and differ != (when[x] == 1):
            return False
    return True


@kernel
def _write(used: Used, size: int, out: Output) -> int:
    """Write the loads of a destination behind `size` entries and clear them; the new size, -1 for want of room."""
    count = used.number[0]
    room = size + count <= out.channel.shape[1]
    for k in range(count):
        c = used.touched[k]
        if room:
            out.channel[0, size + k] = c
            out.amount[0, size + k] = used.load[c]
        used.load[c] = 0
    used.number[0] = 0
    return size + count if room else -1


@kernel
def _ties(source: int, destination: int, grid: CartesianNetwork) -> int:
    """How many rings lead to the destination equally fast either way round."""
    ties = 0
    for x in range(len(grid.radix)):
        far = (destination // grid.stride[x] - source // grid.stride[x]) % grid.radix[x]
        if grid.ring[x] == 1 and 2 * far == grid.radix[x]:
            ties += 1
    return ties


@kernel
def _fold(
    source: int, destination: int, choice: int, place: Array, grid: CartesianNetwork, sides: Array, node: Array
) -> int:
    """Set the side of each dimension and the nodes of the box between two, and return the shape of the box.

    Ties are broken by the bits of `choice`.  Cell 0 is the source.
    """
    shape = 0
    node[0] = source
    cells = 1
    for x in range(len(grid.radix)):
        k = grid.radix[x]
        start = source // grid.stride[x] % k
        far = destination // grid.stride[x] % k - start
        direction = 1
        if grid.ring[x] == 1:
            far = far % k
            if 2 * far == k:
                direction = 1 - 2 * (choice & 1)
                choice >>= 1
            elif 2 * far > k:
                direction = -1
                far = k - far
        elif far < 0:
            direction = -1
            far = -far
        sides[x] = (1 - direction) // 2
        for t in range(1, far + 1):
            ahead = ((start + direction * t) % k - start) * grid.stride[x]
            for cell in range(cells):
                node[t * cells + cell] = node[cell] + ahead
        cells *= far + 1
        shape += far * place[x]
    return shape


@kernel
def loads_in_box(length: Array, stride: Array, phases: Phases, begin: Array, mass: Array, load: Array) -> None:
    """Add up what a packet that crosses a box puts on the steps from its cells: ``load[x, cell]`` along dimension x.

    A phase moves the mass by each of its orders from `begin`, where the mass after the last one is left.  A move along
    a dimension leaves an equal share at every stop, or gathers what it meets if the phase ends at the destination.
    """
    cells = len(mass)
    begin[0] = cells
    for p in range(len(phases.target)):
        gathers = phases.target[p] == 1
        for o in range(phases.first[p], phases.first[p + 1]):
            for k in range(cells):
                mass[k] = begin[k]
            for place in range(len(length)):
                x = phases.order[o, place]
                if x < 0:
                    break
                weight = phases.weight[o, place]
                n, step = length[x], stride[x]
                for first in range(0, cells, n * step):
                    for k in range(first, first + step):  # the cells in which lines along x begin
                        going = 0
                        stop = 0
                        if not gathers:
                            going = mass[k]
                            stop = going // n
                            mass[k] = 0
                        for cell in range(k, k + (n - 1) * step, step):
                            if gathers:
                                going += mass[cell]
                                mass[cell] = 0
                            else:
                                mass[cell] += stop
                                going -= stop
                            load[x, cell] += going * weight
                        mass[k + (n - 1) * step] += going
        for k in range(cells):
            begin[k] = mass[k]


@kernel
def quadrant_flow(source: int, first: int, last: int, grid: CartesianNetwork, shapes: Shapes, out: Output) -> int:
    """Flow of a program that draws its intermediate on the minimal way, from one source to every node.

    Directions are fixed first (both of a tie, half each); the loads in the box of nodes between source and destination
    are those of its shape.  Returns the first destination that was not done, for `last` or for want of room.
    """
    nodes = len(out.whole)
    used = Used(np.zeros(grid.channels, np.int64), np.empty(grid.channels, np.int64), np.zeros(1, np.int64))
    load, touched, number = used
    sides, node = np.empty(len(grid.radix), np.int64), np.empty(nodes, np.int64)
    port = grid.port
    size = 0
    for d in range(first, last):
        if not _serves(source, d, grid.radix, grid.stride, shapes.when):
            out.end[0, d] = size
            continue
        ties = _ties(source, d, grid)
        shape = _fold(source, d, 0, shapes.place, grid, sides, node)
        begin, end = shapes.start[shape], shapes.start[shape + 1]
        if ties == 0:  # each step is another channel
            if size + end - begin > out.channel.shape[1]:
                return d
            for e in range(begin, end):
                x = shapes.dim[e]
                out.channel[0, size] = port[x, sides[x], node[shapes.cell[e]]]
                out.amount[0, size] = shapes.load[e]
                size += 1
        else:
            for choice in range(1 << ties):
                _fold(source, d, choice, shapes.place, grid, sides, node)
                for e in range(begin, end):
                    x = shapes.dim[e]
                    c = port[x, sides[x], node[shapes.cell[e]]]
                    if load[c] == 0:
                        touched[number[0]] = c
                        number[0] += 1
                    load[c] += shapes.load[e]
            size = _write(used, size, out)
            if size < 0:
                return d
        out.end[0, d] = size
        out.whole[d] = shapes.whole[shape] * (1 << ties)
    return last


@kernel
def _going(share: int, far: int, radix: int, ring: bool, spread: bool) -> int:
    """How much of a share goes `far` steps one way, up to half a ring or, where it is `spread`, all the way round."""
    if far <= 0:
        return 0
    if not ring:
        return share
    if spread:
        return share // radix * (radix - far)
    if 2 * far == radix:
        return share // 2
    return share if 2 * far < radix else 0


@kernel
def _walk_along(
    x: int,
    d: int,
    arrives: bool,
    weight: int,
    spread: bool,
    mass: Array,
    after: Array,
    grid: CartesianNetwork,
    used: Used,
) -> None:
    """Walk the mass of every node along dimension x, to an equal share at every stop or, if it `arrives`, to that of d.

    Links are counted one by one, both ways round.
    """
    k, stride = grid.radix[x], grid.stride[x]
    ring = grid.ring[x] == 1
    port = grid.port
    load, touched, number = used
    after[:] = 0
    for v in range(len(mass)):
        if mass[v] == 0:
            continue
        a = v // stride % k
        low, high, share = 0, k, mass[v] // k
        if arrives:
            low = d // stride % k
            high, share = low + 1, mass[v]
        for b in range(low, high):
            after[v + (b - a) * stride] += share
            if weight == 0:
                continue
            for side in range(2):
                far = b - a if side == 0 else a - b
                if ring:
                    far = far % k
                going = _going(share, far, k, ring, spread)
                if going == 0:
                    continue
                for t in range(far):
                    here = (a + t) % k if side == 0 else (a - t) % k
                    c = port[x, side, v + (here - a) * stride]
                    if load[c] == 0:
                        touched[number[0]] = c
                        number[0] += 1
                    load[c] += going * weight
    for v in range(len(mass)):
        mass[v] = after[v]


@kernel
def walk_flow(source: int, first: int, last: int, grid: CartesianNetwork, phases: Phases, out: Output) -> int:
    """Flow of a program that draws its intermediate anywhere: every share is walked to its stop, link by link.

    It takes and returns the same as `quadrant_flow`.
    """
    radix, stride = grid.radix, grid.stride
    nodes = len(out.whole)
    used = Used(np.zeros(grid.channels, np.int64), np.empty(grid.channels, np.int64), np.zeros(1, np.int64))
    mass, begin, after = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    whole = 1
    for p in range(len(phases.target)):
        for x in range(len(radix)):
            whole *= 2
            if phases.target[p] == 0 or phases.spread[x] == 1:
                whole *= radix[x]
    size = 0
    for d in range(first, last):
        if not _serves(source, d, radix, stride, phases.when):
            out.end[0, d] = size
            continue
        begin[:] = 0
        begin[source] = whole
        for p in range(len(phases.target)):
            for o in range(phases.first[p], phases.first[p + 1]):
                for v in range(nodes):
                    mass[v] = begin[v]
                for k in range(len(radix)):
                    x = phases.order[o, k]
                    if x < 0:
                        break
                    spread = phases.spread[x] == 1
                    weight = phases.weight[o, k]
                    _walk_along(x, d, phases.target[p] == 1, weight, spread, mass, after, grid, used)
            for v in range(nodes):
                begin[v] = mass[v]
        written = _write(used, size, out)
        if written < 0:
            return d
        size = written
        out.end[0, d] = size
        out.whole[d] = whole * phases.scale
    return last


# One path per pair on fat trees, by its number


class Form(NamedTuple):
    """The form of a fat tree: see :class:`obliv.topologies.trees.Tree`, and its channels by tail."""

    below: Array
    width: Array
    children: Array
    parents: Array
    first: Array
    head: Array


@kernel
def climb(source: Array, destination: Array, number: Array, form: Form, taken: Array) -> int:
    """Walk the paths of pairs link by link; pair k takes the channels ``taken[k]``, -1 for none.

    Returns the first pair whose path does not end at its destination, -1 where all do.
    """
    below, width, children, parents, first, head = form
    levels = len(children)
    for k in range(len(number)):
        at = source[k]
        end = destination[k]
        turn = 0
        while turn < levels and at // below[turn] != end // below[turn]:
            turn += 1
        for h in range(turn):
            port = number[k] // (width[turn] // width[h + 1]) % parents[h]
            if h > 0:
                port += children[h - 1]
            taken[k, h] = first[at] + port
            at = head[taken[k, h]]
        for h in range(turn, levels):
            taken[k, h] = -1
            taken[k, 2 * levels - 1 - h] = -1
        for back in range(turn):
            h = turn - 1 - back
            taken[k, 2 * levels - 1 - h] = first[at] + end // below[h] % children[h]
            at = head[taken[k, 2 * levels - 1 - h]]
        if at != end:
            return k
    return -1
