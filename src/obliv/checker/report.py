"""What a check found, step by step."""

from __future__ import annotations

from obliv.results.verification import Check

__all__ = ["Report"]


class Report:
    """What was checked, in order."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append(Check(check, ok, detail))
        return ok is True

    @property
    def holds(self) -> bool:
        return all(step.ok is True for step in self.checks)
