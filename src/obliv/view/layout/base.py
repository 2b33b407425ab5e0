"""The layout of a network: where its nodes are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obliv.topologies.recognise.grid import Grid

__all__ = ["Layout", "Points"]

Points = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of the nodes of a network; neighbors are about one apart.

    Parameters
    ----------
    points : float array, shape (nodes, 2)
        The position of every node.
    hosts : int
        Number of hosts; the nodes from this number on are switches.
    grid : Grid, optional
        The grid on which the switches are drawn.
    """

    points: Points
    hosts: int = 0
    grid: Grid | None = None
