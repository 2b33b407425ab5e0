"""Schedules of packets: every move of every packet, and the resulting figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from obliv._util.arrays import starts
from obliv._util.codec import digest_of, pack, unpack_array
from obliv._util.content import Value
from obliv._util.typing import Array
from obliv.results.base import Result
from obliv.results.bufferless.plans import CentralizedPlan, DistributedPlan, Plan
from obliv.results.codec import Codec, derived, entry
from obliv.results.format import times
from obliv.topologies.leveled.instances import Instance

__all__ = ["Moves", "Schedule", "Schedules"]


@dataclass(frozen=True, eq=False, repr=False)
class Moves(Value):
    """The moves of packets, packet after packet, each in the order of time.

    Parameters
    ----------
    start : int64 array, shape (packets + 1,)
        Packet p makes the moves ``start[p] .. start[p + 1] - 1``.
    time : int64 or int32 array
        The time step, from 1.
    edge : int32 array
        The edge of the move.
    up : bool array
        True for a move to the next level, False for a move back.
    more : int64 array
        The number of further steps for which the packet oscillates on that edge; empty where all are 0.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("array:6", [[0, 1], [1, 2]])
    >>> obliv.bufferless.schedule(instance, "direct").moves.rows().tolist()
    [[1, 0, 0, 1], [2, 0, 1, 1], [1, 1, 1, 1], [2, 1, 2, 1]]
    """

    start: Array
    time: Array
    edge: Array
    up: Array
    more: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<Moves of {len(self.start) - 1} packets: {self.steps} steps>"

    @cached_property
    def packet(self) -> Array:
        """The packet of every row."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))

    def ends(self) -> Array:
        """Return the time of every packet's last move, 0 for packets without one."""
        last = np.zeros(len(self.start) - 1, np.int64)
        moved = np.diff(self.start) > 0
        rows = self.start[1:][moved] - 1
        last[moved] = self.time[rows] + (self.more[rows] if len(self.more) else 0)
        return last

    @property
    def steps(self) -> int:
        """The number of single moves, including oscillations."""
        return len(self.time) + int(self.more.sum())

    def rows(self) -> Array:
        """Return rows of time, packet, edge, direction (1 up, -1 down) and, if any, further oscillating steps."""
        columns = [self.time, self.packet, self.edge, np.where(self.up, 1, -1)]
        if len(self.more):
            columns.append(self.more)
        return np.stack([np.asarray(column, np.int64) for column in columns], axis=1)

    @classmethod
    def from_rows(cls, rows: Array, packets: int) -> Moves:
        """Return the moves of rows as :meth:`rows` gives them, in any order."""
        rows = np.asarray(rows, np.int64)
        rows = rows[np.lexsort((rows[:, 0], rows[:, 1]))] if len(rows) else np.zeros((0, 4), np.int64)
        start = starts(np.bincount(rows[:, 1], minlength=packets))
        more = rows[:, 4] if rows.shape[1] > 4 and rows[:, 4].any() else np.zeros(0, np.int64)
        return cls(start, rows[:, 0], rows[:, 2].astype(np.int32), rows[:, 3] > 0, more)


_INSTANCE = Codec(Instance.to_dict, Instance.from_dict)
_MOVES = Codec(lambda moves: pack(moves.rows()), unpack_array)
_PLAN = Codec(Plan.to_dict, Plan.from_dict)


@dataclass(frozen=True, repr=False)
class Schedule(Result):
    """A schedule with its routing time, and whether the verifier has checked it.

    ``constants`` holds the parameters of the algorithm; ``plan`` the choices of the paper's algorithms for every
    packet, from which the verifier checks their frames, boats and targets. ``verified`` is False in a schedule that was
    loaded, whatever its file says.

    Examples
    --------
    >>> import obliv
    >>> instance = obliv.bufferless.instance("butterfly:4", "bit-reverse")
    >>> obliv.bufferless.schedule(instance, "direct")
    bufferless: bit-reverse on butterfly:4
      packets       16
      congestion C  2
      dilation D    4
      routing time  5 steps, 0.833 times C + D
      at least      5 steps, for any schedule
      deflections   0
      order         farthest
      checked       every move, by the verifier
    """

    kind: ClassVar[str] = "bufferless"

    routing: str = entry("", column="paths")
    algorithm: str = entry("", column="algorithm")
    rules: str = entry("bufferless", column="rules")
    packets: int = entry(0, column="packets")
    congestion: int = entry(0, column="congestion")
    dilation: int = entry(0, column="dilation")
    makespan: int = entry(0, column="makespan")
    lower_bound: int = entry(0, column="lower_bound")
    deflections: int | None = entry(
        0, column="deflections", reason="the schedule was simulated boat by boat, without its moves"
    )
    verified: bool = entry(False, compare=False, column="verified")  # by this process; see from_dict
    constants: dict[str, Any] = entry(default_factory=dict)
    notes: tuple[str, ...] = ()
    delivery: Any = entry(None, compare=False, hidden=True)  # int64, when every packet arrives
    instance: Instance | None = entry(None, codec=_INSTANCE, omit=lambda schedule: not schedule.whole, rank=2)
    moves: Moves | None = entry(None, codec=_MOVES, omit=lambda schedule: not schedule.whole, rank=2)
    plan: CentralizedPlan | DistributedPlan | None = entry(
        None, codec=_PLAN, omit=lambda schedule: not schedule.whole or schedule.plan is None, rank=2
    )

    @property
    def whole(self) -> bool:
        """Whether the schedule holds its instance and its moves, not only the figures."""
        return self.instance is not None and self.moves is not None

    @property
    def classes(self) -> tuple[Schedule, ...]:
        """The schedules that run one after another: this one alone; see :class:`Schedules`."""
        return (self,)

    def summary(self) -> list[tuple[str, str]]:
        both = self.congestion + self.dilation
        share = f", {times(self.makespan / both)} times C + D" if both else ""
        return [
            ("packets", f"{self.packets:,}"),
            ("congestion C", f"{self.congestion:,}"),
            ("dilation D", f"{self.dilation:,}"),
            ("routing time", f"{self.makespan:,} steps{share}"),
            ("at least", f"{self.lower_bound:,} steps, for any schedule"),
            *_deflections(self),
            *((name, str(value)) for name, value in self.constants.items()),
            *_checked(self),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the schedule as JSON types; with its moves, the SHA-256 of all the rest is added."""
        data = super().to_dict()
        return data | {"digest": digest_of(data)} if self.whole else data

    def bare(self) -> Schedule:
        """Return the figures only, without instance, moves and plan."""
        return replace(self, instance=None, moves=None, plan=None, delivery=None)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schedule:
        """Return the schedule that :meth:`to_dict` wrote; its instance gives the number of packets in its moves.

        It is not verified: a file cannot say that of itself.
        """
        fields = cls._fields_from(data) | {"verified": False}
        if "instance" not in fields:
            return cls(**fields)
        rows, packets = fields.pop("moves"), fields["instance"].packets
        if len(rows) and (rows.ndim != 2 or rows.shape[1] not in (4, 5)):
            raise ValueError("moves are not rows of time, packet, edge and direction")
        if len(rows) and not 0 <= rows[:, 1].min() <= rows[:, 1].max() < packets:
            raise ValueError("a move is of a packet that does not exist")
        moves = Moves.from_rows(rows, packets)
        return cls(**fields, moves=moves, delivery=moves.ends())


@dataclass(frozen=True, repr=False)
class Schedules(Result):
    """Schedules of orientation classes, each on its own leveled form of a network, run one after another.

    Examples
    --------
    >>> import obliv
    >>> instances = obliv.bufferless.instances("mesh:4x4", rng=1)
    >>> obliv.bufferless.schedules(instances, "direct").makespan
    12
    """

    kind: ClassVar[str] = "bufferless"

    marks: ClassVar[tuple[str, ...]] = ("classes",)

    algorithm: str = ""

    @property
    @derived()
    def rules(self) -> str:
        """The rules of all classes."""
        return self.classes[0].rules

    @property
    @derived()
    def packets(self) -> int:
        """The number of packets of all classes."""
        return sum(schedule.packets for schedule in self.classes)

    @property
    @derived()
    def congestion(self) -> int:
        """The largest number of paths of one class over one edge."""
        return max(schedule.congestion for schedule in self.classes)

    @property
    @derived()
    def dilation(self) -> int:
        """The number of edges of the longest path."""
        return max(schedule.dilation for schedule in self.classes)

    @property
    @derived()
    def makespan(self) -> int:
        """The sum of the steps of all classes."""
        return sum(schedule.makespan for schedule in self.classes)

    @property
    @derived()
    def lower_bound(self) -> int:
        """The lower bound of all schedules of the classes, one after another."""
        return sum(schedule.lower_bound for schedule in self.classes)

    @property
    @derived()
    def deflections(self) -> int | None:
        """The deflections of all classes, None if those of a class were not counted."""
        counts = [schedule.deflections for schedule in self.classes]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    @derived()
    def verified(self) -> bool:
        """Whether the verifier has checked every class."""
        return all(schedule.verified for schedule in self.classes)

    notes: tuple[str, ...] = ()
    classes: tuple[Schedule, ...] = entry((), rank=2)

    def summary(self) -> list[tuple[str, str]]:
        return [
            ("packets", f"{self.packets:,} in {len(self.classes)} classes, one after another"),
            ("congestion C", f"{self.congestion:,}"),
            ("dilation D", f"{self.dilation:,}"),
            (
                "routing time",
                f"{self.makespan:,} steps, {times(self.makespan / self._both)} times C + D of the classes",
            ),
            ("at least", f"{self.lower_bound:,} steps, classes one after another"),
            *_deflections(self),
            *((name, str(value)) for name, value in self.classes[0].constants.items() if self._same(name)),
            *(
                (one.topology, f"{one.packets:,} packets, {one.makespan:,} steps (at least {one.lower_bound:,})")
                for one in self.classes
            ),
            *_checked(self),
        ]

    def rows(self) -> Iterator[dict[str, Any]]:
        for schedule in self.classes:
            yield from schedule.rows()

    @property
    def _both(self) -> int:
        return sum(schedule.congestion + schedule.dilation for schedule in self.classes)

    def _same(self, constant: str) -> bool:
        return len({str(schedule.constants.get(constant)) for schedule in self.classes}) == 1

    def to_dict(self) -> dict[str, Any]:
        """Return the schedules as JSON types; with their moves, the SHA-256 of all the rest is added."""
        data = super().to_dict()
        return data | {"digest": digest_of(data)} if all(one.whole for one in self.classes) else data

    def bare(self) -> Schedules:
        """Return the figures alone, without instances, moves and plans."""
        return replace(self, classes=tuple(schedule.bare() for schedule in self.classes))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schedules:
        """Return the schedules that :meth:`to_dict` wrote; there is at least one."""
        if not data["classes"]:
            raise ValueError("classes: no schedule")
        return super().from_dict(data)


def _deflections(result: Schedule | Schedules) -> list[tuple[str, str]]:
    text = "not counted" if result.deflections is None else f"{result.deflections:,}"
    return [("deflections", text)] if result.rules == "bufferless" else []


def _checked(result: Schedule | Schedules) -> list[tuple[str, str]]:
    """Return whether the verifier has checked the moves, and the notes."""
    checked = "every move, by the verifier" if result.verified else "not checked"
    return [("checked", checked), *(("note", note) for note in result.notes)]
