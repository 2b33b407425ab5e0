"""The plan of the centralized algorithm: which boat every packet takes in every phase, and where it waits for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.typing import Array
from obliv.bufferless.frames.constants import assign, compact, group_frames, phases
from obliv.bufferless.kernels.colours import BITS, DONE, TOO_MANY, colour_frames
from obliv.errors import InputError
from obliv.kernels import run
from obliv.topologies.leveled.instances import Instance

__all__ = ["SEGMENTS", "delivery_times", "even", "phase_length", "plan", "too_high"]


SEGMENTS = ("tight", "paper")


def even(number: int) -> int:
    """The number, or the next one if it is odd."""
    return number + number % 2


def phase_length(lam: int, chi_stop: int, chi_all: int, gap: int = 2) -> int:
    """The steps of a phase, tau: until the last stop is made and the last boat is through; even.

    Notes
    -----
    A packet of colour k stops after move 2 lambda + 2k - 4 of its phase, if targets are two levels apart, and needs
    two more to be there again at the end; one that does not stop may need 4k - 4 + lambda moves.
    """
    return even(max(2 * lam + (4 - gap) * chi_stop - 2, 4 * chi_all - 4 + lam))


def plan(
    instance: Instance,
    sets: Array,
    s: int,
    lam: int,
    segments: str = "tight",
    rank: Array | None = None,
    dense: bool = False,
    gap: int = 2,
    reach: int = 2,
) -> dict[str, Any]:
    """Colour every frame of every set and find where packets stop.

    Parameters
    ----------
    instance : Instance
    sets : int array
        The set of every packet, 1..s.
    s, lam : int
        Sets; levels of a frame, even.
    segments : "tight" or "paper"
        Whether only what is still ahead of packets counts, or all edges of their paths in the two frames.
    rank : int array, optional
        Packets in the order of colouring: the packet of rank 0 first; by source level, then by number, if not given.
    dense : bool
        Whether sets without packets, and phases of session 1 after its last packet, are left out.
    gap, reach : int
        Levels between targets, frames that segments reach over: other values than 2 make algorithms that are wrong.

    Returns
    -------
    dict
        "kind", "lam", "s", "gamma", "tau", "segments"; "chi_stop" and "chi_all" (the largest colours of packets that
        stop, and of all); "session_start" (two times); arrays "set", "session" and "group_start" (a frame) of packets;
        row ``phase_start[p] + n`` of "colour" and "home" (a level) belongs to phase n of packet p.  If planning fails,
        only "failed": the packet and its colour.

    Raises
    ------
    InputError
        If sets, segments or lambda cannot be used.

    Notes
    -----
    Source: sections 2 and 3 of the paper, with tau as corrected.

    Examples
    --------
    >>> from obliv.bufferless.problems import instance
    >>> made = plan(instance("array:12", [range(10), [1, 2, 3]]), np.array([1, 1]), 1, 4)
    >>> made["phase_start"].tolist(), made["colour"].tolist(), made["home"].tolist(), made["tau"]
    ([0, 2, 3], [1, 1, 2], [0, 6, 1], 10)
    """
    if segments not in SEGMENTS:
        raise InputError(f"segments are {' or '.join(SEGMENTS)}, not {segments}")
    if len(sets) != instance.packets or (len(sets) and (sets.min() < 1 or sets.max() > s)):
        raise InputError(f"sets must be a number from 1 to {s} for each of the {instance.packets} packets")
    gamma = group_frames(instance.dilation, lam)
    places = assign(instance.level, instance.length, lam, gamma)
    if dense:
        sets = compact(sets, places.session)
        s = int(sets.max(initial=1))
    order, cell, rank = _cells(instance, places, sets, s, gamma, rank)
    base = places.first[order[cell[:-1]]] * lam
    room = np.zeros(instance.packets + 1, np.int64)
    np.cumsum(places.destination - places.source + 1, out=room[1:])
    count = np.zeros(instance.packets, np.int32)
    colour, home = np.zeros(room[-1], np.int32), np.zeros(room[-1], np.int32)
    found = np.zeros(4, np.int64)
    widest = int(np.diff(cell).max(initial=0))
    spare = [np.zeros(widest, np.int32) for _ in range(3)]
    # all users of an edge that are there at once have different colours
    words = 1 + (instance.congestion // s) // BITS
    while True:
        require_memory(
            8.0 * words * instance.network.edges, f"{words * BITS} colours of {instance.network.edges} edges"
        )
        mask = np.zeros(words * instance.network.edges, np.int64)
        state = run(
            colour_frames, 5.0 * len(instance.edge) + 20 * instance.packets,
            cell, base, order, rank, instance.level, instance.start, instance.edge, places.source, lam, gap, reach,
            int(segments == "paper"), words, mask, room, spare[0], spare[1], spare[2], count, colour, home, found,
        )  # fmt: skip
        if state != TOO_MANY:
            break
        words *= 2
        count[:] = 0
        found[:] = 0
    if state != DONE:
        return {"failed": (int(found[2]), int(found[3]))}
    return _made(instance, places, sets, s, lam, gamma, segments, dense, gap, room, count, colour, home, found)


def _cells(
    instance: Instance, places: Any, sets: Array, s: int, gamma: int, rank: Array | None
) -> tuple[Array, Array, Array]:
    """Packets sorted by session, set, group, frame and rank; where the cells begin; the rank that was used."""
    groups = int(places.first.max(initial=0)) + 1
    key = ((places.session - 1) * np.int64(s + 1) + sets) * groups + places.first
    if rank is None:
        deep = instance.network.depth + 1
        order = np.argsort(key * deep + instance.level, kind="stable").astype(np.int32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.int32)
    else:
        rank = np.asarray(rank, np.int32)
        by_rank = np.argsort(rank, kind="stable").astype(np.int32)
        order = by_rank[np.argsort((key * gamma + places.source)[by_rank], kind="stable")]
    ordered = key[order]
    cuts = np.flatnonzero(np.diff(ordered)) + 1
    first = [0] if len(order) else []
    return order, np.concatenate([first, cuts, [len(order)]]).astype(np.int64), rank


def _made(
    instance: Instance, places: Any, sets: Array, s: int, lam: int, gamma: int, segments: str, dense: bool, gap: int,
    room: Array, count: Array, colour: Array, home: Array, found: Array,
) -> dict[str, Any]:  # fmt: skip
    phase_start = np.zeros(len(count) + 1, np.int64)
    np.cumsum(count, out=phase_start[1:])
    if phase_start[-1] != room[-1]:
        kept = np.arange(room[-1]) - np.repeat(room[:-1], np.diff(room)) < np.repeat(count, np.diff(room))
        colour, home = colour[kept], home[kept]
    tau = phase_length(lam, int(found[0]), int(found[1]), gap)
    used = phases(s, gamma)
    if dense:
        early = places.session == 1
        used = int((2 * sets + places.source + count - 2)[early].max(initial=0))
    return {
        "kind": "centralized",
        "lam": lam,
        "s": s,
        "gamma": gamma,
        "tau": tau,
        "chi_stop": int(found[0]),
        "chi_all": int(found[1]),
        "segments": segments,
        "session_start": [0, used * tau],
        "set": sets.astype(np.int32),
        "session": places.session.astype(np.int8),
        "group_start": places.first.astype(np.int32),
        "phase_start": phase_start,
        "colour": colour,
        "home": home,
    }


def delivery_times(instance: Instance, made: dict[str, Any]) -> Array:
    """When packets arrive: T0 + (2i - 1 + sf + n - 2) tau + 4k - 4 + (destination level - a), from a plan."""
    lam, tau = made["lam"], made["tau"]
    count = np.diff(made["phase_start"])
    colour = made["colour"][made["phase_start"][1:] - 1].astype(np.int64)
    source = instance.level // lam - made["group_start"]
    begin = np.asarray(made["session_start"], np.int64)[made["session"] - 1]
    a = (made["group_start"] + source + count - 1) * lam
    goal = instance.level + instance.length
    phase = 2 * made["set"].astype(np.int64) - 1 + source + count - 1
    return np.asarray(begin + (phase - 1) * tau + 4 * colour - 4 + goal - a, np.int64)


def too_high(failed: tuple[int, int], lam: int, s: int) -> str:
    """Why planning failed and which constant to raise."""
    packet, colour = failed
    return (
        f"packet {packet} got colour {colour}, but frames of lambda = {lam} levels have targets for {lam // 2} only; "
        f"raise lam= (to {2 * colour} or more) or s= (now {s})"
    )
