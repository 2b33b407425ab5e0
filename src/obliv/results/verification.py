"""The result of checking a saved claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from obliv.results.base import Result

__all__ = ["Verification"]


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """What a check of a saved claim found: proved or not, each step, and what was left unchecked."""

    kind: ClassVar[str] = "verification"

    proved: bool = False
    claim: str = ""
    checks: tuple[dict[str, Any], ...] = ()
    unchecked: tuple[int, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        marks = {True: "ok", False: "FAILS", None: "left"}
        lines = [("claim", self.claim), ("verdict", "proved" if self.proved else "not proved")]
        return lines + [(each["check"], f"{marks[each['ok']]}: {each['detail']}") for each in self.checks]

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from self.checks

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        made |= {
            "proved": self.proved,
            "claim": self.claim,
            "checks": list(self.checks),
            "unchecked": list(self.unchecked),
            "provenance": self.provenance,
        }
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Verification:
        """The inverse of :meth:`to_dict`."""
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            proved=made["proved"],
            claim=made["claim"],
            checks=tuple(dict(each) for each in made["checks"]),
            unchecked=tuple(made["unchecked"]),
        )
