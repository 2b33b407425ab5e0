"""The result of checking a saved claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.codec import Record, derived, entry

__all__ = ["IDLE", "NO_BOUND", "OTHER_CHANNELS", "RECORDED", "REPAIRS", "Check", "Verification"]

#: The step that stands for the channels that a quick check leaves out.
OTHER_CHANNELS = "other channels"

#: Why there is no mean of throughputs.
IDLE = "some of this traffic loads no channel: its throughput is infinite"

#: Why no lower bound of single paths is given.
NO_BOUND = {
    "network": "no theorem bounds single paths on this network",
    "tree": "no theorem bounds single paths on this tree",
    "longer": "the bounds are given for shortest paths, and not all paths of this routing are shortest",
    "several": "the bounds hold for one path per pair, and this routing has several",
}

REPAIRS = ("ecmp", "shortest", "updown", "valiant")  #: routings that fit any network, for what a failure leaves

#: The verdict of a verification that was loaded.
RECORDED = "not checked here: this is the record of an earlier check; verify the claim itself"

_VERDICTS = {True: "ok", False: "FAILS", None: "not checked"}


@dataclass(frozen=True)
class Check(Record):
    """One step of a verification.

    Parameters
    ----------
    check : str
        What was checked.
    ok : bool or None
        Whether it holds; None where it was not checked.
    detail : str
    """

    check: str = entry(column="check")
    ok: bool | None = entry(column="ok")
    detail: str = entry(column="detail")


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """The result of checking a saved claim: whether it is proved, each step, and the unchecked channels.

    ``beside`` names the keys of the claim that nothing was checked about, such as ``hottest`` or
    ``channels[*].focus``, where ``[*]`` stands for every row of a list.

    Examples
    --------
    >>> import obliv
    >>> obliv.verify(obliv.worst_case(obliv.DOR(obliv.mesh(3, 3)), certificate=True))
    verification: dor on mesh:3x3
      claim     no admissible traffic loads a channel by more than 2 (on all 24 channels)
      verdict   proved
      digest    ok: SHA-256 of the file's content
      form      ok: every part fits the network
      witness   ok: it loads channel 1 by 2, claimed 2
      channels  ok: 4 by prices, 20 by the simple bound
      note      not part of the proof: channel_names, focus_channels, names, crossing
    """

    kind: ClassVar[str] = "verification"

    proved: bool = False
    claim: str = ""
    checks: tuple[Check, ...] = ()
    unchecked: tuple[int, ...] = ()
    beside: tuple[str, ...] = entry((), key="not_part_of_the_proof", omit=lambda checked: not checked.beside)
    definitions: str = entry("", omit=lambda checked: not checked.definitions)  #: Whose they are, if not today's.
    recorded: bool = entry(False, compare=False, hidden=True)  #: Whether a file says all this, and nothing was checked.

    @property
    @derived(label="verdict")
    def verdict(self) -> str:
        """``proved``, ``not proved``, or ``one channel holds; not proved`` if no other channel was checked.

        If the claim holds by the definitions of an earlier version only, ``proved by the definitions of obliv ...``.
        """
        if self.proved:
            return f"proved by the definitions of {self.definitions}" if self.definitions else "proved"
        missing = {step.check for step in self.checks if step.ok is not True}
        return "one channel holds; not proved" if missing == {OTHER_CHANNELS} else "not proved"

    @property
    def title(self) -> str:
        """The heading; what was not read has no names."""
        return super().title if self.topology else self.kind

    def summary(self) -> list[tuple[str, str]]:
        if self.recorded:
            return [("claim", self.claim), ("verdict", RECORDED)]
        steps = [(step.check, f"{_VERDICTS[step.ok]}: {step.detail}") for step in self.checks]
        beside = [("note", f"not part of the proof: {', '.join(self.beside)}")] if self.beside else []
        return [("claim", self.claim), *super().summary(), *steps, *beside]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verification:
        """Return the verification that :meth:`to_dict` wrote, as a record: it proves nothing."""
        return replace(super().from_dict(data), recorded=True)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each step."""
        return (step.cells() for step in self.checks)
