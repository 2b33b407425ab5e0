"""What a change of a few cables or table entries does to the guarantees of a fabric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from obliv.results.base import Result
from obliv.results.codec import derived, entry
from obliv.results.fabric.failures import FailureState, state_text

__all__ = ["WhatIf"]


@dataclass(frozen=True, repr=False)
class WhatIf(Result):
    """The exact worst case, lost pairs and credit loops of tables before and after a change.

    Parameters
    ----------
    changes : tuple of str
        What fails, new cables, and the table entries that are set.
    before, after : FailureState
    channels : int
        Number of channels whose packets change.
    solved : int
        Number of these that were solved again; bounds settled the others.
    notes : tuple of str
        What else to know.

    Examples
    --------
    >>> import obliv
    >>> base = obliv.fabric.base_of(obliv.fabric.from_routing(obliv.DModK(obliv.fattree(4, 2))))
    >>> result = obliv.fabric.what_if(base, entries=["switch((0),1)/14=3"])
    >>> result.changes, result.pairs_lost
    (('switch((0),1)/14=3',), 0)
    """

    kind: ClassVar[str] = "what-if"

    changes: tuple[str, ...] = ()
    before: FailureState = entry(default_factory=FailureState)
    after: FailureState = entry(default_factory=FailureState)
    channels: int = entry(0, column="channels")
    solved: int = entry(0, column="solved")
    notes: tuple[str, ...] = entry((), rank=3)

    @property
    @derived(column="pairs_lost")
    def pairs_lost(self) -> int:
        """Ordered pairs of hosts that the change cuts off; negative where it connects more than it cuts off."""
        return self.after.missing - self.before.missing

    @property
    @derived(hidden=True, column="channel_load")
    def channel_load(self) -> object:
        """The worst channel load after the change."""
        return self.after.channel_load

    @property
    @derived(hidden=True, column="channel")
    def channel(self) -> str:
        """A channel that has it."""
        return self.after.channel

    @property
    @derived(hidden=True, column="deadlock")
    def deadlock(self) -> bool | None:
        """Whether there is a credit loop after the change."""
        return self.after.deadlock

    def summary(self) -> list[tuple[str, str]]:
        lines = [("change", text) for text in self.changes or ("none",)]
        for name, state in (("before", self.before), ("after", self.after)):
            lines.append((name, f"{state_text(state)}   {state.channel}".rstrip()))
        change = "gained" if self.pairs_lost < 0 else "lost"
        lines.append((f"pairs {change}", f"{abs(self.pairs_lost):,}"))
        lines.append(("work", f"{self.channels:,} channels changed, {self.solved:,} solved"))
        return [*lines, *(("note", text) for text in self.notes)]
