"""Results of packet routing: schedules with every move, plans by frames and waves, packets that never stop."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from obliv._util.arrays import Array, grouped, starts
from obliv._util.files import Value, digest_of, pack, unpack_array
from obliv.bufferless.kernels.direct import leaving
from obliv.bufferless.leveled.base import Leveled
from obliv.bufferless.leveled.instances import Instance
from obliv.kernels import run
from obliv.results.base import Result
from obliv.results.codec import Codec, derived, entry
from obliv.results.numbers import times

# Plans of schedules by frames and waves: the choices for every packet, from which a schedule is checked


class Plan(Value):
    """A plan; its fields are the keys of a saved plan, some under other names."""

    kind: ClassVar[str]
    #: The keys in files of fields with other names.
    keys: ClassVar[dict[str, str]] = {"sets": "set", "color": "colour"}

    def __repr__(self) -> str:
        numbers = (f"{name} {value}" for name, value in vars(self).items() if isinstance(value, int))
        return f"<{type(self).__name__}: {', '.join(numbers)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON types."""
        return {key: pack(value) if isinstance(value, np.ndarray) else value for key, value in self.columns().items()}

    def columns(self) -> dict[str, Any]:
        """Return kind, numbers and arrays by the names that files use."""
        return {"kind": self.kind} | {key: getattr(self, name) for name, key in self._names()}

    @classmethod
    def _names(cls) -> list[tuple[str, str]]:
        """Return the names of the fields and their keys in files."""
        return [(field.name, cls.keys.get(field.name, field.name)) for field in fields(cls)]  # type: ignore[arg-type]

    @staticmethod
    def from_dict(saved: dict[str, Any]) -> CentralizedPlan | DistributedPlan:
        """Return the plan that :meth:`to_dict` wrote."""
        for plan in (CentralizedPlan, DistributedPlan):
            if saved.get("kind") == plan.kind:
                missing = [key for _, key in plan._names() if key not in saved]
                if missing:
                    raise ValueError(f"the plan has no {missing[0]!r}")
                return plan(**{name: _unpacked(saved[key]) for name, key in plan._names()})
        raise ValueError(f"the kind of plan {saved.get('kind')!r:.40} is unknown")


@dataclass(frozen=True, eq=False, repr=False)
class CentralizedPlan(Plan):
    """The plan of the centralized algorithm."""

    kind: ClassVar[str] = "centralized"
    keys: ClassVar[dict[str, str]] = {**Plan.keys, "group": "group_start"}

    lam: int  # levels of a frame
    s: int  # sets
    gamma: int  # frames of a group
    tau: int  # steps of a phase
    chi_stop: int  # the largest color of packets that stop
    chi_all: int  # and of all packets
    segments: str  # "tight" or "paper": the edges on which colors must differ
    session_start: Array  # the times at which the two sessions begin
    sets: Array  # of every packet: its set, from 1
    session: Array
    group: Array  # the first frame of its group
    phase_start: Array  # phase n of packet p is entry ``phase_start[p] + n`` of the next two
    color: Array
    home: Array  # the level where the packet begins the phase

    @property
    def packets(self) -> int:
        """The number of packets."""
        return len(self.sets)

    @property
    def stops(self) -> bool:
        """Whether a packet takes more than one phase."""
        return len(self.color) > self.packets

    @property
    def chi(self) -> int:
        """The largest color."""
        return int(self.color.max(initial=0))


@dataclass(frozen=True, eq=False, repr=False)
class DistributedPlan(Plan):
    """The plan of the distributed algorithm, which the run determines; phases count from 1 through both sessions."""

    kind: ClassVar[str] = "distributed"

    lam: int  # levels of a frame
    chi: int  # boats
    s: int  # sets
    xi: int  # rounds of a sub-phase
    tau: int  # moves of half a round
    gamma: int  # frames of a group
    timetable: str  # "fixed" or "oracle"
    tie: str  # "survives" or "both-fail"
    sets: Array  # of every packet: its set, from 1
    session: Array
    group: Array  # the first frame of its group
    phase: Array  # in which it enters
    phase_start: Array  # phase n of packet p is entry ``phase_start[p] + n`` of the next two
    color: Array
    home: Array  # the level where the packet begins the phase
    sub_phase: Array  # of every sub-phase in which packets ride: its phase
    sub_part: Array  # 0, 1, 2 for A, B1, B2
    sub_rounds: Array  # until no packet failed
    sub_begin: Array  # the time before the first move


def _unpacked(value: Any) -> Any:
    return unpack_array(value) if isinstance(value, dict | list) else value


# Schedules of packets: every move of every packet, and the resulting figures


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


class _Animated:
    """Schedules can be drawn as animations, too."""

    def require_picture(self, path: str | Path) -> None:
        """Refuse a file that a schedule cannot be drawn into, before any work."""
        importlib.import_module("obliv.bufferless.pictures.draw").require_drawing(path)

    def draw(self, path: str | Path, **options: Any) -> None:
        """Draw the schedule into a file; the ending selects the format."""
        given = {name: value for name, value in options.items() if value != {}}
        importlib.import_module("obliv.bufferless.pictures.draw").draw(self, path, **given)


@dataclass(frozen=True, repr=False)
class Schedule(_Animated, Result):
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
class Schedules(_Animated, Result):
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


@dataclass(frozen=True, eq=False)
class Run:
    """The moves of all packets and their delivery times."""

    moves: Moves
    delivery: Array  # the time of every packet's last move
    rules: str = "bufferless"  # or "buffered": whether a packet in the network moves at every step
    deflections: int = 0  # how often a packet was pushed over a link that it has to retrace
    constants: dict[str, Any] = field(default_factory=dict)  # names and values, for display
    plan: CentralizedPlan | DistributedPlan | None = None  # from which the verifier checks frames, boats and targets
    notes: tuple[str, ...] = ()


#: Edges up to which sorting is faster than loading the machine code of a loop.
INTERPRETED = 30_000


def exits(network: Leveled) -> tuple[Array, Array]:
    """Return the links that leave every node v: ``link[first[v] : first[v + 1]]``, 2e up edge e before 2e + 1 down."""
    edges, dtype = network.edges, np.int32 if network.edges < 2**30 else np.int64
    if edges > INTERPRETED:
        first, link = np.zeros(network.nodes + 1, np.int64), np.empty(2 * edges, dtype)
        run(leaving, 20.0 * edges, *network.edge_ends, first, link)
        return first, link
    first, order = grouped(np.concatenate(network.edge_ends), network.nodes)
    down = order >= edges
    return first, (2 * (order - edges * down) + down).astype(dtype)


def nonstop(start: Array, departure: Array, dtype: type[np.signedinteger[Any]] = np.int32) -> Array:
    """Return the times of the moves ``start[p] .. start[p + 1] - 1`` of packets that leave at `departure`."""
    time = np.ones(start[-1], dtype)
    if len(departure):
        time[start[:-1]] += np.diff(departure - start[:-1], prepend=0).astype(dtype)
    return np.cumsum(time, out=time)
