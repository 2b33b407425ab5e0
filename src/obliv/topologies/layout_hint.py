"""Hints of a topology of hosts and switches on where to draw its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obliv._util.typing import Array

__all__ = ["LayoutHint"]


@dataclass(frozen=True, eq=False)
class LayoutHint:
    """The arrangement of hosts and switches in pictures.

    Parameters
    ----------
    hosts : int
        Nodes with lower numbers are hosts, the others switches.
    order : int array, shape (hosts,)
        The hosts of one switch are drawn in ascending order of this number.
    level : int array, shape (nodes,), optional
        The level of every node in a tree, 0 for hosts, -1 for nodes without a place in the tree.
    across : float array, shape (nodes,), optional
        The horizontal position of every node in the tree.
    missing : sequence of (int, int)
        Pairs of switches with a cable less than in the tree, as often as cables are missing.
    """

    hosts: int
    order: Array
    level: Array | None = None
    across: Array | None = None
    missing: Sequence[tuple[int, int]] = ()
