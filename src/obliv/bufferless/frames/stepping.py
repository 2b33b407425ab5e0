"""The centralized algorithm run move by move, with every rule that it must keep checked at every move.

From a plan it takes sets, colours and constants; where packets are it finds out by moving them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import assign
from obliv.bufferless.frames.plan import delivery_times, phase_length
from obliv.bufferless.kernels.steps import AT, DOES, END, HOME, PATH, Log, Steps, simulate_phases
from obliv.kernels import run
from obliv.results.schedule import Moves
from obliv.topologies.leveled.instances import Instance

__all__ = ["Outcome", "Variant", "Violation", "simulate"]


BROKEN = (
    "",
    "its wave has left the group of frames",
    "its home is not in the frame of its wave",
    "its home is an even distance from the frame's first odd level",
    "it is not at home when it should be",
    "the plan has no colour for it in this phase",
    "it is on a boat and not where the boat is",
    "it needs a link that is in use",
    "it is pushed and has no edge to go back over",
    "it oscillates and is off its edge",
    "it left the frame of its wave and the next one",
    "it still rides when the phase ends",
    "it was not injected in its phase",
)


@dataclass(frozen=True)
class Variant:
    """Rules of the algorithm that can be got wrong; as they stand they are right.

    Parameters
    ----------
    boat : int
        Levels between boats.
    gap : int
        Levels between targets (give the plan the same).
    wave : int
        Frames between waves.
    reach : int
        Frames over which colours must differ (for the plan only).
    tau_shift : int
        Steps that a phase is longer.
    second_term : bool
        Whether the phase also lasts until boats without a stop are through.
    over_own_edge : bool
        Whether a packet that finds its edge of oscillation in use is sent over that edge.
    last_target : bool
        Whether packets stop at level 2D - 1 of the group in its last frame, as printed in the paper.
    early_target : bool
        Whether packets also stop that end in the frame where the wave is.
    """

    boat: int = 4
    gap: int = 2
    wave: int = 2
    reach: int = 2
    tau_shift: int = 0
    second_term: bool = True
    over_own_edge: bool = False
    last_target: bool = False
    early_target: bool = False


@dataclass(frozen=True)
class Violation:
    """The first thing that went wrong: its number, the packet, the time, in words."""

    check: int
    packet: int
    time: int
    text: str

    def __str__(self) -> str:
        return f"step {self.time}, packet {self.packet}: {self.text}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to.

    ``delivery``: when packets arrived, 0 for those that had not when something went wrong; ``deflections``: of every
    packet; ``packet_steps``: single moves that were made; ``moves`` if they were to be recorded.
    """

    delivery: Array
    deflections: Array
    packet_steps: int
    violation: Violation | None
    moves: Moves | None


def simulate(instance: Instance, plan: dict[str, Any], variant: Variant | None = None, record: bool = False) -> Outcome:
    """Run a plan of the centralized algorithm step by step until all have arrived or a rule is broken.

    Parameters
    ----------
    instance : Instance
    plan : dict
        From :func:`obliv.bufferless.frames.plan.plan`.
    variant : Variant, optional
        Rules to get wrong.
    record : bool
        Whether to keep all moves; not with a variant.

    Returns
    -------
    Outcome

    Notes
    -----
    Phases in which nobody is in the network are jumped over, and so is the time before the first boat with a packet.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> from obliv.bufferless.frames.plan import plan
    >>> made = instance("array:12", [range(10), [1, 2, 3]])
    >>> planned = plan(made, np.array([1, 1]), 1, 4)
    >>> simulate(made, planned).delivery.tolist()
    [16, 8]
    >>> print(simulate(made, planned, Variant(tau_shift=-1)).violation)
    step 9, packet 0: it is not at home when it should be
    """
    variant = variant or Variant()
    lam, gamma, tau = plan["lam"], plan["gamma"], plan["tau"]
    if not variant.second_term:
        tau = phase_length(lam, plan["chi_stop"], 0)
    tau += variant.tau_shift
    level, packets = instance.level, instance.packets
    places = assign(level, instance.length, lam, gamma)
    number = plan["set"].astype(np.int64)
    row, colour = plan["phase_start"], plan["colour"]
    state = np.zeros((packets, 8), np.int64)
    state[:, PATH] = instance.start[:-1] - level
    state[:, END] = level + instance.length
    state[:, AT] = state[:, HOME] = level
    state[:, DOES] = 0
    phase = variant.wave * (number - 1) + 1 + places.source
    enter = level % lam + variant.boat * (colour[row[:-1]].astype(np.int64) - 1) + 1
    rule = np.array(
        [
            lam, gamma, tau, variant.boat, variant.gap, variant.wave, variant.over_own_edge, variant.last_target,
            variant.early_target, record,
        ],
        np.int64,
    )  # fmt: skip
    begins = [0, plan["session_start"][1] // plan["tau"] * tau]
    room = np.zeros(packets + 1, np.int64)
    times = delivery_times(instance, plan)
    if record:
        entered = np.asarray(begins)[places.session - 1] + (phase - 1) * tau + enter
        np.cumsum(times - entered + 1, out=room[1:])
    require_memory(13.0 * room[-1] + 8.0 * instance.network.edges, f"stepping through {len(instance.edge)} path edges")
    log = Log(
        room[:-1].copy(), room[1:], np.zeros(room[-1], np.int64), np.zeros(room[-1], np.int32), np.zeros(room[-1], bool)
    )
    delivery, hits, nth = np.zeros(packets, np.int64), np.zeros(packets, np.int32), np.zeros(packets, np.int32)
    tell = np.zeros(6, np.int64)
    steps = Steps(
        *(phase, enter, number, places.first, row, colour, instance.start, instance.edge, rule, instance.dilation),
        *(np.zeros(packets, np.int32), nth, state, np.zeros(2 * instance.network.edges, np.int32)),
        *(hits, delivery, tell, log),
    )
    work = 5.0 * len(instance.edge) + tau * len(colour)
    code = 0
    for session in (1, 2):
        queue = np.flatnonzero(places.session == session).astype(np.int32)
        queue = queue[np.argsort(phase[queue] * (tau + lam + 4 * int(colour.max(initial=0)) + 1) + enter[queue])]
        code = run(simulate_phases, work, queue, begins[session - 1], steps)
        if code:
            break
    violation = Violation(code, int(tell[0]), int(tell[3]), BROKEN[code]) if code else None
    whole = record and violation is None and (log.at == log.end).all()
    moves = Moves(room, log.time, log.over, log.rise) if whole else None
    return Outcome(delivery, hits, int(tell[5]), violation, moves)
