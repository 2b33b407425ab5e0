"""The centralized algorithm run move by move, with every rule that it must keep checked at every move.

From a plan it takes sets, colors and constants; it finds the positions of packets by moving them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import assign
from obliv.bufferless.frames.planning import delivery_times
from obliv.bufferless.kernels import steps
from obliv.bufferless.kernels.steps import TALLY, WALKER, Log, Walk
from obliv.kernels import Kernel, run
from obliv.results.bufferless.plans import CentralizedPlan
from obliv.results.bufferless.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["Outcome", "Violation", "simulate"]


BROKEN = (
    "",
    "its wave has left the group of frames",
    "its home is not in the frame of its wave",
    "its home is an even distance from the frame's first odd level",
    "it is not at home when it should be",
    "the plan has no color for it in this phase",
    "it is on a boat and not where the boat is",
    "it needs a link that is in use",
    "it is deflected and has no edge to go back over",
    "it oscillates and is off its edge",
    "it left the frame of its wave and the next one",
    "it still rides when the phase ends",
    "it was not injected in its phase",
)


@dataclass(frozen=True)
class Violation:
    """The first broken rule: its number, the packet, the time, and the rule in words."""

    check: int
    packet: int
    time: int
    text: str

    def __str__(self) -> str:
        return f"step {self.time}, packet {self.packet}: {self.text}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a run.

    ``delivery``: when packets arrived, 0 for those that had not when a rule was broken; ``deflections`` of every
    packet; ``packet_steps``: single moves; ``moves`` if they were recorded.
    """

    delivery: Array
    deflections: Array
    packet_steps: int
    violation: Violation | None
    moves: Moves | None


def simulate(
    instance: Instance, boats: CentralizedPlan, record: bool = False, kernel: Kernel = steps.simulate_phases
) -> Outcome:
    """Run a plan of the centralized algorithm step by step until all packets have arrived or a rule is broken.

    Parameters
    ----------
    instance : Instance
    boats : CentralizedPlan
    record : bool
        Whether to record all moves.
    kernel : Kernel
        The kernel that runs a session; another one for another reading of the algorithm.

    Returns
    -------
    Outcome

    Notes
    -----
    Phases without packets are skipped, and so is the time before the first boat with a packet.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from obliv.bufferless.problems import instance
    >>> from obliv.bufferless.frames.planning import plan
    >>> array = instance("array:12", [range(10), [1, 2, 3]])
    >>> boats = plan(array, np.array([1, 1]), 1, 4)
    >>> simulate(array, boats).delivery.tolist()
    [16, 8]
    >>> print(simulate(array, replace(boats, tau=boats.tau - 1)).violation)
    step 9, packet 0: it is not at home when it should be
    """
    places = assign(instance.level, instance.length, boats.lam, boats.gamma)
    walk, room = _walk(instance, boats, places.first, places.source, record)
    longest = boats.tau + int(walk.enter.max(initial=0)) + 1  # of a phase, in a sort key
    work = 5.0 * len(instance.edge) + boats.tau * len(boats.color)
    code = 0
    for session in (1, 2):
        queue = np.flatnonzero(places.session == session).astype(np.int32)
        queue = queue[np.argsort(walk.phase[queue] * longest + walk.enter[queue])]
        code = run(kernel, work, queue, boats.session_start[session - 1], walk)
        if code:
            break
    tally, log = walk.tally[0], walk.log
    violation = Violation(code, int(tally["packet"]), int(tally["time"]), BROKEN[code]) if code else None
    whole = record and violation is None and (log.at == log.end).all()
    moves = Moves(room, log.time, log.over, log.rise) if whole else None
    return Outcome(walk.delivery, walk.hits, int(tally["moves"]), violation, moves)


def _walk(instance: Instance, boats: CentralizedPlan, group: Array, source: Array, record: bool) -> tuple[Walk, Array]:
    """Return the state of the network before the first move, and where the moves of each packet go."""
    level, packets = instance.level, instance.packets
    sets = boats.sets.astype(np.int64)
    phase = steps.WAVE_SPACING * (sets - 1) + 1 + source
    enter = level % boats.lam + steps.BOAT_SPACING * (boats.color[boats.phase_start[:-1]].astype(np.int64) - 1) + 1
    state = np.zeros(packets, WALKER)
    state["path"] = instance.start[:-1] - level
    state["end"] = level + instance.length
    state["at"] = state["home"] = level
    room = np.zeros(packets + 1, np.int64)
    if record:
        entered = np.asarray(boats.session_start, np.int64)[boats.session - 1] + (phase - 1) * boats.tau + enter
        np.cumsum(delivery_times(instance, boats) - entered + 1, out=room[1:])
    require_memory(13.0 * room[-1] + 8.0 * instance.network.edges, f"stepping through {len(instance.edge)} path edges")
    size = int(room[-1])
    walk = Walk(
        phase=phase,
        enter=enter,
        sets=sets,
        first=group,
        row=boats.phase_start,
        color=boats.color,
        start=instance.start,
        edge=instance.edge,
        lam=boats.lam,
        gamma=boats.gamma,
        tau=boats.tau,
        record=record,
        live=np.zeros(packets, np.int32),
        nth=np.zeros(packets, np.int32),
        state=state,
        stamp=np.zeros(2 * instance.network.edges, np.int32),
        hits=np.zeros(packets, np.int32),
        delivery=np.zeros(packets, np.int64),
        tally=np.zeros(1, TALLY),
        log=Log(room[:-1].copy(), room[1:], np.zeros(size, np.int64), np.zeros(size, np.int32), np.zeros(size, bool)),
    )
    return walk, room
