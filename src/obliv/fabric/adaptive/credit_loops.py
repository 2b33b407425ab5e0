"""Credit loops that adaptive routing makes possible: over all choices that switches have."""

from __future__ import annotations

import numpy as np

from obliv._util.arrays import positions
from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.analysis.deadlocks.graph import short_cycle
from obliv.fabric.adaptive.choices import PackedGroups, first_alike
from obliv.fabric.kernels.choices import followed_by
from obliv.fabric.routes.trace import Traces
from obliv.kernels import run

__all__ = ["choice_loops"]


def choice_loops(groups: PackedGroups, traces: Traces) -> tuple[int, tuple[int, ...]]:
    """Look for a cycle among the channels that packets can use one after the other, by any choices.

    Parameters
    ----------
    groups : PackedGroups
    traces : Traces
        Of :func:`obliv.fabric.adaptive.choices.traced`.

    Returns
    -------
    int
        Pairs of channels that some packets can use one right after the other.
    tuple of int
        The slots where the channels of a short cycle begin; empty where there is none. All packets are assumed to use
        one virtual lane.
    """
    choices, fabric = groups.choices, groups.fabric
    slots = np.flatnonzero(choices.to >= 0)
    slots = slots[fabric.switch_row[fabric.node_of[slots]] >= 0]
    channel = positions(slots, len(choices.to))
    columns = np.unique(first_alike(groups, traces))
    index, most = _numbers(groups, traces.lid[columns])
    require_memory(2.0 * len(slots) * (most + 256), f"the channel dependency graph of {fabric.name}")
    follows = np.zeros((len(slots), most), np.bool_)
    rows = fabric.switch_row[traces.leaf].astype(np.int64)
    code = np.ascontiguousarray(traces.code[:, columns])
    work = 60.0 * len(columns) * len(choices.first)
    run(followed_by, work, traces.lid[columns], rows, code, choices, channel, index, follows)
    before, after = _expanded(groups, slots, index, follows)
    starts = np.concatenate([[0], np.cumsum(np.bincount(before, minlength=len(slots)))])
    cycle = short_cycle(starts, channel[after]) or []
    return len(before), tuple(int(slots[c]) for c in cycle)


def _numbers(groups: PackedGroups, lids: Array) -> tuple[Array, int]:
    """Return numbers of the sets that rows have for some LIDs, shape (sets, rows), and how many a row has at most."""
    choice = groups.choices.choice
    require_memory(9.0 * len(groups.sets) * choice.shape[1], "the numbers of port sets")
    used = np.zeros((len(groups.sets), choice.shape[1]), bool)
    rows = np.arange(choice.shape[1])
    for lid in lids[(lids > 0) & (lids < len(choice))].tolist():
        used[choice[lid], rows] = True
    index = np.cumsum(used, axis=0).astype(np.int32) - 1
    return index, int(index.max(initial=0)) + 1


def _expanded(groups: PackedGroups, slots: Array, index: Array, follows: Array) -> tuple[Array, Array]:
    """Return the dependencies: numbers of channels in order, and the slots of channels that follow them."""
    choices, fabric = groups.choices, groups.fabric
    c, local = np.nonzero(follows)
    row = choices.to[slots[c]].astype(np.int64)
    number = np.zeros((follows.shape[1], index.shape[1]), np.int64)
    sets, rows = np.nonzero(np.diff(index, axis=0, prepend=-1))
    number[index[sets, rows], rows] = sets
    chosen = number[local, row]
    size = np.diff(choices.ptr)[chosen]
    entry = np.repeat(np.arange(len(c)), size)
    inside = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size)
    port = choices.port[choices.ptr[chosen[entry]] + inside]
    sound = (port > 0) & (port < (choices.end - choices.first)[row[entry]])
    leaving = np.zeros((len(slots), int(port[sound].max(initial=0)) + 1), bool)
    leaving[c[entry[sound]], port[sound]] = True  # packets of a channel leave the switch behind it by this port
    before, port = np.nonzero(leaving)
    after = choices.first[choices.to[slots[before]]] + port
    between = (choices.to[after] >= 0) & (fabric.switch_row[fabric.node_of[after]] >= 0)
    return before[between], after[between]
