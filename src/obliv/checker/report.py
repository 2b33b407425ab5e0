"""What a check found, step by step."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction

from obliv.results import Verification, provenance
from obliv.results.verification import Check

__all__ = ["Report", "short"]


class Report:
    """What was checked, in order, and since when."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.began = time.perf_counter()

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append(Check(check, ok, detail))
        return ok is True

    def note_digest(self, fits: bool, otherwise: str = "does not fit the content") -> None:
        self.note("digest", fits, "SHA-256 of the file's content" if fits else otherwise)

    @property
    def holds(self) -> bool:
        return all(step.ok is True for step in self.checks)

    def verification(
        self,
        claim: str,
        topology: str,
        routing: str,
        sources: tuple[tuple[str, str], ...] = (),
        unchecked: Iterable[int] = (),
    ) -> Verification:
        """Return the result: whether the claim is proved, and the channels that were not checked."""
        specs = {"topology": topology, "routing": routing}
        return Verification(
            topology=topology,
            routing=routing,
            provenance=provenance(specs, time.perf_counter() - self.began, sources=sources),
            proved=self.holds,
            claim=claim,
            checks=tuple(self.checks),
            unchecked=tuple(unchecked),
        )


def short(value: Fraction) -> str:
    """Return a number in full where it is short, else rounded and marked as such."""
    return str(value) if len(str(value)) <= 12 else f"≈ {float(value):.9g}"
