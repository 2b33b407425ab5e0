"""Kernels of the checker: flows from one source, and the dual bound of every channel.

They share nothing with the kernels that find worst cases.
"""

from __future__ import annotations

from typing import Any

from obliv.kernels import kernel

__all__ = ["add_block", "hop_flow", "quadrant_flow", "raise_tops", "sort_block", "walk_flow"]

Array = Any


@kernel
def hop_flow(
    source: int,
    targets: Array,
    first: int,
    last: int,
    nodes: int,
    order: Array,
    ptr: Array,
    hop: Array,
    share: Array,
    total: Array,
    head: Array,
    unit: int,
    mass: Array,
    out_end: Array,
    out_channel: Array,
    out_amount: Array,
) -> int:
    """Send `unit` from a source to targets `first` to `last` along next hops, nodes taken in topological order.

    Returns the first target that was not reached, for `last` or for want of room, or -1 - target where `unit` cannot
    be divided as the hops ask.
    """
    size = 0
    for t in range(first, last):
        base = t * nodes
        if source != targets[t]:
            mass[source] = unit
            for k in range(nodes):
                v = order[base + k]
                if v < 0 or v == targets[t]:
                    break
                if mass[v] == 0:
                    continue
                amount = mass[v]
                mass[v] = 0
                if size + ptr[base + v + 1] - ptr[base + v] > len(out_channel):
                    for other in range(nodes):
                        mass[other] = 0
                    return t
                for e in range(ptr[base + v], ptr[base + v + 1]):
                    if amount * share[e] % total[base + v] != 0:
                        return -1 - t
                    part = amount * share[e] // total[base + v]
                    out_channel[size] = hop[e]
                    out_amount[size] = part
                    size += 1
                    mass[head[hop[e]]] += part
            mass[targets[t]] = 0
        out_end[t] = size
    return last


@kernel
def quadrant_flow(
    source: int,
    first: int,
    last: int,
    dims: int,
    radix: Array,
    stride: Array,
    ring: Array,
    port: Array,
    when: Array,
    spread: Array,
    phase_target: Array,
    phase_orders: Array,
    order_list: Array,
    order_weight: Array,
    scale: int,
    mass: Array,
    begin_mass: Array,
    load: Array,
    touched: Array,
    way: Array,
    length: Array,
    box: Array,
    out_end: Array,
    out_channel: Array,
    out_amount: Array,
    out_whole: Array,
) -> int:
    """Flow of a program that draws its intermediate on the minimal way, from one source to every node.

    Directions are fixed first (both of a tie, half each); on the box of nodes between source and destination a phase
    to the intermediate leaves an equal share at every stop, a phase to the destination gathers what it meets.
    Amounts are over out_whole[destination].  Step `at` of row o of the orders counts order_weight[o, at]; the last row
    of a phase leads to its end.  Returns the first destination that was not done, for `last` or for want of room.
    """
    size = 0
    for d in range(first, last):
        serves = True
        for x in range(dims):
            differ = d // stride[x] % radix[x] != source // stride[x] % radix[x]
            if when[x] >= 0 and differ != (when[x] == 1):
                serves = False
        if not serves:
            out_end[d] = size
            continue
        ties = 0
        for x in range(dims):
            far = (d // stride[x] - source // stride[x]) % radix[x]
            if ring[x] == 1 and 2 * far == radix[x]:
                ties += 1
        used = 0
        whole = 1
        for choice in range(1 << ties):
            left = choice
            cells = 1
            whole = 1
            for x in range(dims):
                a = source // stride[x] % radix[x]
                b = d // stride[x] % radix[x]
                if ring[x] == 1:
                    far = (b - a) % radix[x]
                    if 2 * far == radix[x]:
                        way[x] = 1 - 2 * (left & 1)
                        left >>= 1
                    elif 2 * far < radix[x]:
                        way[x] = 1
                    else:
                        way[x] = -1
                        far = radix[x] - far
                else:
                    way[x] = 1
                    far = b - a
                    if far < 0:
                        way[x] = -1
                        far = -far
                length[x] = far + 1
                box[x] = cells
                cells *= far + 1
                whole *= far + 1
            for k in range(cells):
                begin_mass[k] = 0
            begin_mass[0] = whole
            for p in range(len(phase_target)):
                for o in range(phase_orders[p], phase_orders[p + 1]):
                    for k in range(cells):
                        mass[k] = begin_mass[k]
                    for at in range(dims):
                        x = order_list[o, at]
                        if x < 0:
                            break
                        n = length[x]
                        for k in range(cells):
                            if k // box[x] % n != 0:
                                continue
                            node = 0
                            for y in range(dims):
                                go = (source // stride[y] + way[y] * (k // box[y] % length[y])) % radix[y]
                                node += go * stride[y]
                            start = source // stride[x] % radix[x]
                            here = node - start * stride[x]
                            if phase_target[p] == 0:
                                going = mass[k]
                                if going == 0:
                                    continue
                                stop = going // n
                                mass[k] = 0
                            else:
                                going = 0
                                stop = 0
                            for t in range(n):
                                cell = k + t * box[x]
                                if phase_target[p] == 0:
                                    mass[cell] += stop
                                    going -= stop
                                else:
                                    going += mass[cell]
                                    mass[cell] = 0
                                if t == n - 1:
                                    if phase_target[p] == 1:
                                        mass[cell] = going
                                elif going > 0 and order_weight[o, at] > 0:
                                    place = here + (start + way[x] * t) % radix[x] * stride[x]
                                    c = port[x, (1 - way[x]) // 2, place]
                                    if load[c] == 0:
                                        touched[used] = c
                                        used += 1
                                    load[c] += going * order_weight[o, at]
                for k in range(cells):
                    begin_mass[k] = mass[k]
        if size + used > len(out_channel):
            for k in range(used):
                load[touched[k]] = 0
            return d
        for k in range(used):
            out_channel[size] = touched[k]
            out_amount[size] = load[touched[k]]
            load[touched[k]] = 0
            size += 1
        out_end[d] = size
        out_whole[d] = whole * (1 << ties) * scale
    return last


@kernel
def walk_flow(
    source: int,
    first: int,
    last: int,
    dims: int,
    radix: Array,
    stride: Array,
    ring: Array,
    port: Array,
    when: Array,
    spread: Array,
    phase_target: Array,
    phase_orders: Array,
    order_list: Array,
    order_weight: Array,
    scale: int,
    mass: Array,
    begin_mass: Array,
    load: Array,
    touched: Array,
    after: Array,
    out_end: Array,
    out_channel: Array,
    out_amount: Array,
    out_whole: Array,
) -> int:
    """Flow of a program that draws its intermediate anywhere: every share is walked to its stop, link by link.

    What it takes and returns is as for `quadrant_flow`.
    """
    nodes = len(out_end)
    whole = 1
    for p in range(len(phase_target)):
        for x in range(dims):
            whole *= 2
            if phase_target[p] == 0 or spread[x] == 1:
                whole *= radix[x]
    size = 0
    for d in range(first, last):
        serves = True
        for x in range(dims):
            differ = d // stride[x] % radix[x] != source // stride[x] % radix[x]
            if when[x] >= 0 and differ != (when[x] == 1):
                serves = False
        if not serves:
            out_end[d] = size
            continue
        used = 0
        for k in range(nodes):
            begin_mass[k] = 0
        begin_mass[source] = whole
        for p in range(len(phase_target)):
            for o in range(phase_orders[p], phase_orders[p + 1]):
                for k in range(nodes):
                    mass[k] = begin_mass[k]
                for at in range(dims):
                    x = order_list[o, at]
                    if x < 0:
                        break
                    k_x = radix[x]
                    for k in range(nodes):
                        after[k] = 0
                    for v in range(nodes):
                        if mass[v] == 0:
                            continue
                        a = v // stride[x] % k_x
                        low, high = 0, k_x
                        share = mass[v]
                        if phase_target[p] == 0:
                            share = share // k_x
                        else:
                            low = d // stride[x] % k_x
                            high = low + 1
                        for b in range(low, high):
                            after[v + (b - a) * stride[x]] += share
                            for side in range(2):
                                if order_weight[o, at] == 0:
                                    break
                                if ring[x] == 1:
                                    far = (b - a) % k_x if side == 0 else (a - b) % k_x
                                    if spread[x] == 1:
                                        going = share // k_x * (k_x - far) if far > 0 else 0
                                    else:
                                        going = share if 2 * far < k_x else share // 2 if 2 * far == k_x else 0
                                else:
                                    far = b - a if side == 0 else a - b
                                    going = share if far > 0 else 0
                                if going == 0:
                                    continue
                                for t in range(far):
                                    here = (a + t) % k_x if side == 0 else (a - t) % k_x
                                    c = port[x, side, v + (here - a) * stride[x]]
                                    if load[c] == 0:
                                        touched[used] = c
                                        used += 1
                                    load[c] += going * order_weight[o, at]
                    for k in range(nodes):
                        mass[k] = after[k]
            for k in range(nodes):
                begin_mass[k] = mass[k]
        if size + used > len(out_channel):
            for k in range(used):
                load[touched[k]] = 0
            return d
        for k in range(used):
            out_channel[size] = touched[k]
            out_amount[size] = load[touched[k]]
            load[touched[k]] = 0
            size += 1
        out_end[d] = size
        out_whole[d] = whole * scale
    return last


@kernel
def sort_block(
    ends: Array,
    channel: Array,
    amount: Array,
    whole: Array,
    denominator: int,
    source: int,
    cursor: Array,
    out_source: Array,
    out_destination: Array,
    out_weight: Array,
) -> bool:
    """Put one source's entries behind their channels' cursors, as numerators over the claim's denominator.

    Returns False where a load is no whole number over it.
    """
    begin = 0
    for j in range(len(ends)):
        if begin == ends[j]:
            continue
        q = denominator // whole[j]
        r = denominator % whole[j]
        for e in range(begin, ends[j]):
            weight = amount[e] * q
            if r != 0:
                rest = amount[e] * r
                if rest % whole[j] != 0:
                    return False
                weight += rest // whole[j]
            at = cursor[channel[e]]
            cursor[channel[e]] = at + 1
            out_source[at] = source
            out_destination[at] = j
            out_weight[at] = weight
        begin = ends[j]
    return True


@kernel
def add_block(
    start: Array,
    source: Array,
    destination: Array,
    weight: Array,
    send: Array,
    dual: Array,
    price: Array,
    total: Array,
) -> None:
    """Add the terms send_i · max(0, max_j (w_ij - v_j)) of a block of sources to each channel's dual.

    Entries of channel c are ``start[c] .. start[c + 1]``, sorted by source; its prices v are ``price[dual[c]]``.
    """
    for c in range(len(total)):
        v = price[dual[c]]
        sum_ = 0
        over = 0
        before = -1
        for e in range(start[c], start[c + 1]):
            if source[e] != before:
                if over > 0:
                    sum_ += send[before] * over
                over = 0
                before = source[e]
            gain = weight[e] - v[destination[e]]
            if gain > over:
                over = gain
        if over > 0:
            sum_ += send[before] * over
        total[c] += sum_


@kernel
def raise_tops(start: Array, destination: Array, weight: Array, row: Array, top: Array) -> None:
    """Raise the column maxima of the channels that need them: channel c's stand in ``top[row[c]]``, none where < 0."""
    for c in range(len(row)):
        if row[c] < 0:
            continue
        for e in range(start[c], start[c + 1]):
            if weight[e] > top[row[c], destination[e]]:
                top[row[c], destination[e]] = weight[e]
