"""Kernels of the checker for one path per pair on fat trees: walk numbered paths, take the largest of each channel."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["Form", "Sums", "climb", "raise_sums"]


class Form(NamedTuple):
    """The form of a fat tree: see :class:`obliv.topologies.trees.Tree`, and its channels by tail."""

    below: Array
    width: Array
    children: Array
    parents: Array
    first: Array
    head: Array


class Sums(NamedTuple):
    """Sums of channels and the maxima behind them: `top` holds zeros before and after each call."""

    top: Array
    touched: Array
    total: Array


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


@kernel
def raise_sums(taken: Array, row: Array, price: Array, sums: Sums) -> None:
    """Add max(0, max_k (1 - v_k)) over the paths k of one host to the sum of each channel.

    Channel c has the prices v = ``price[row[c]]``; no price is looked up where the row is 0.
    """
    top, touched, total = sums
    size = 0
    for k in range(len(taken)):
        for step in range(taken.shape[1]):
            c = taken[k, step]
            if c < 0:
                continue
            gain = 1
            if row[c] > 0:
                gain -= price[row[c], k]
            if gain > top[c]:
                if top[c] == 0:
                    touched[size] = c
                    size += 1
                top[c] = gain
    for k in range(size):
        total[touched[k]] += top[touched[k]]
        top[touched[k]] = 0
