"""Kernel: which channel a route uses right after which."""

from __future__ import annotations

import numpy as np

from obliv._util.typing import Array
from obliv.fabric.kernels.traces import Hops
from obliv.kernels import kernel

__all__ = ["followers"]


@kernel
def followers(leaf: Array, lid: Array, alone: Array, code: Array, hops: Hops, channel: Array, follows: Array) -> None:
    """Mark ``follows[c, p]`` where a route takes channel c between two switches and then port p to a third switch.

    Routes that loop (code 6) or have no LID (7) are left out, and those from leaf ``alone[k]``, where the owner of
    LID k is the only endpoint.  Routes to one LID are followed together, each switch's own hop once.

    Parameters
    ----------
    leaf, lid, code
        As :func:`obliv.fabric.kernels.traces.trace_columns` has them.
    alone : int array, shape (columns,)
    hops : Hops
    channel : int64 array, shape (slots,)
        The number of each channel between switches, -1 for other slots.
    follows : bool array, shape (channels between switches, ports)
    """
    first, to, row, out = hops.first, hops.to, hops.row, hops.out
    seen = np.zeros(len(row), np.int32)
    for k in range(len(lid)):
        for i in range(len(leaf)):
            if code[i, k] == 6 or code[i, k] == 7 or i == alone[k]:
                continue
            v = leaf[i]
            before = -1
            while v >= 0 and row[v] >= 0 and lid[k] < len(out):
                port = np.int64(out[lid[k], row[v]])
                slot = first[v] + port
                if port == 0 or slot >= first[v + 1] or channel[slot] < 0:
                    break
                if before >= 0:
                    follows[before, port] = True
                if seen[v] == k + 1:
                    break
                seen[v] = k + 1
                before = channel[slot]
                v = to[slot]
