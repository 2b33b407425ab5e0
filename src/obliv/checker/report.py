"""What a check found, step by step."""

from __future__ import annotations

from typing import Any

__all__ = ["Report"]


class Report:
    """What was checked, in order."""

    def __init__(self) -> None:
        self.checks: list[dict[str, Any]] = []

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append({"check": check, "ok": ok, "detail": detail})
        return ok is True

    @property
    def holds(self) -> bool:
        return all(each["ok"] is True for each in self.checks)
