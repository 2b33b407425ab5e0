"""Kernels: other readings of the algorithms, in place of those of :mod:`obliv.bufferless.kernels`."""

from __future__ import annotations

from obliv._util.typing import Array
from obliv.bufferless.kernels.moves import SERVED
from obliv.bufferless.kernels.steps import Walk
from obliv.kernels import kernel

__all__ = ["at_target", "board_early", "last_target", "never_late"]


@kernel
def last_target(p: int, a: int, k: int, last: bool, walk: Walk) -> int:
    """Return the target as printed: in the group's last frame level 2D - 1 of the group."""
    if last:
        dilation = 0
        for q in range(len(walk.start) - 1):
            dilation = max(dilation, walk.start[q + 1] - walk.start[q])
        return int(walk.first[p] * walk.lam + 2 * dilation - 1)
    if walk.state["end"][p] < a + walk.lam:
        return -1
    return int(a + 2 * walk.lam - 2 * k)


@kernel
def never_late(part: int) -> bool:
    """Let all packets enter at the first move."""
    return False


@kernel
def board_early(height: int, color: int, part: int) -> int:
    """Return the move of the boat, one earlier for packets from even inner levels."""
    return height + 4 * color - 3 - (1 if part == 2 else 0)


@kernel
def at_target(p: int, index: int, state: Array) -> None:
    """Let a packet on a boat succeed when it reaches its target."""
    if index == state["stop"][p]:
        state["mode"][p] = SERVED
        state["sure"][p] = 1
