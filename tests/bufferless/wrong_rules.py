"""Rules that nobody proposes: the simulations and the verifier have to notice them."""

from __future__ import annotations

import numpy as np

from obliv.bufferless.frames import Kernels, Stepped
from obliv.bufferless.kernels.rounds import forward
from obliv.bufferless.kernels.walks import Walk, simulate_phases
from obliv.kernels import kernel
from obliv.papers.bufferless.errata import altered


@kernel
def early_target(p: int, a: int, k: int, last: bool, walk: Walk) -> int:
    """Return the target where packets stop that end in the frame of the wave, too."""
    if last:
        return -1
    return int(a + 2 * walk.lam - 2 * k)


@kernel
def own_edge(own: int) -> int:
    """Return the edge of oscillation itself, over which a packet comes back."""
    return own


@kernel
def on_path(p: int, q: int, index: int, route: np.ndarray) -> int:
    """Return the path edge before, -1 at the source."""
    if index > 0:
        return int(route["start"][p] + index - 1)
    return -1


#: Kernels that run a session of the centralized algorithm with a wrong rule.
CENTRALIZED = {
    "early target": altered(simulate_phases, "early_target", target=early_target),
    "own edge": altered(simulate_phases, "own_edge", way_back=own_edge),
}


class OnPath(Stepped):
    """A packet deflected at its source goes back over its path, of which there is nothing before the source."""

    kernels = Kernels(forward=altered(forward, "on_path", way_back=on_path))


class LastReversed(Stepped):
    """The last round is undone, too."""

    def finish(self, member: np.ndarray, last: bool) -> None:
        """Run the reverse half of every round."""
        self.backward()
