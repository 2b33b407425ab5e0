"""Plans of schedules by frames and waves: the choices for every packet, from which a schedule is checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from obliv._util.codec import pack, unpack_array
from obliv._util.content import Value
from obliv._util.typing import Array

__all__ = ["CentralizedPlan", "DistributedPlan", "Plan"]


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
        """Return the plan that :meth:`to_dict` wrote.

        Raises
        ------
        ValueError
            If the kind is unknown or a field is missing.
        """
        for plan in (CentralizedPlan, DistributedPlan):
            if saved.get("kind") == plan.kind:
                missing = [key for _, key in plan._names() if key not in saved]
                if missing:
                    raise ValueError(f"the plan has no {missing[0]!r}")
                return plan(**{name: _unpacked(saved[key]) for name, key in plan._names()})
        raise ValueError(f"the kind of plan {saved.get('kind')!r:.40} is unknown")


@dataclass(frozen=True, eq=False, repr=False)
class CentralizedPlan(Plan):
    """The plan of the centralized algorithm.

    Parameters
    ----------
    lam, s, gamma, tau : int
        Levels of a frame; sets; frames of a group; steps of a phase.
    chi_stop, chi_all : int
        The largest color of packets that stop, and of all packets.
    segments : "tight" or "paper"
        The edges on which colors must differ.
    session_start : int array
        The times at which the two sessions begin.
    sets, session, group : int array
        Of every packet: its set, its session, and the first frame of its group.
    phase_start : int array, shape (packets + 1,)
        Phase n of packet p is entry ``phase_start[p] + n`` of the next two arrays.
    color, home : int array
        The color in the phase, and the level where the packet begins it.
    """

    kind: ClassVar[str] = "centralized"
    keys: ClassVar[dict[str, str]] = {**Plan.keys, "group": "group_start"}

    lam: int
    s: int
    gamma: int
    tau: int
    chi_stop: int
    chi_all: int
    segments: str
    session_start: Array
    sets: Array
    session: Array
    group: Array
    phase_start: Array
    color: Array
    home: Array

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
    """The plan of the distributed algorithm, which the run determines.

    Parameters
    ----------
    lam, chi, s, xi, tau, gamma : int
        Levels of a frame; boats; sets; rounds of a sub-phase; moves of half a round; frames of a group.
    timetable : "fixed" or "oracle"
    tie : "survives" or "both-fail"
    sets, session, group, phase : int array
        Of every packet: its set, its session, the first frame of its group, and the phase in which it enters.
    phase_start : int array, shape (packets + 1,)
        Phase n of packet p is entry ``phase_start[p] + n`` of the next two arrays.
    color, home : int array
        The color in the phase, and the level where the packet begins it.
    sub_phase, sub_part, sub_rounds, sub_begin : int array
        Of every sub-phase in which packets ride: its phase; its part (0, 1, 2 for A, B1, B2); rounds until no packet
        failed; the time before the first move. Phases count from 1 through both sessions, sets from 1.
    """

    kind: ClassVar[str] = "distributed"

    lam: int
    chi: int
    s: int
    xi: int
    tau: int
    gamma: int
    timetable: str
    tie: str
    sets: Array
    session: Array
    group: Array
    phase: Array
    phase_start: Array
    color: Array
    home: Array
    sub_phase: Array
    sub_part: Array
    sub_rounds: Array
    sub_begin: Array


def _unpacked(value: Any) -> Any:
    return unpack_array(value) if isinstance(value, dict | list) else value
