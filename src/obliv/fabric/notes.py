"""Findings about a file, limited in number however broken the file is."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from obliv.fabric.model import Finding

__all__ = ["Notes", "Place", "place_of"]

_LIMIT = 200  # findings of one severity and kind


class Place(NamedTuple):
    """The node, the port and the other end of the cable that a finding is about, as in :class:`Finding`."""

    guid: str | None = None
    switch: str | None = None
    port: int | None = None
    peer: str | None = None


_NOWHERE = Place()


def place_of(guid: int, name: str, port: int | None = None, peer: str | None = None) -> Place:
    """Return the place of a finding; GUID 0 and the empty name stand for unknown ones."""
    return Place(f"0x{guid:016x}" if guid else None, name or None, port, peer)


class Notes:
    """Findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.last_line = 0  # of the last finding
        self._count: Counter[tuple[str, str]] = Counter()  # of each severity and kind
        self._kept: list[Finding] = []

    def add(self, severity: str, kind: str, message: str, line: int = 0, place: Place = _NOWHERE) -> None:
        """Add a finding; of many with one severity and kind, the first are listed and the others counted."""
        self.last_line = int(line)
        self._count[severity, kind] += 1
        if self._count[severity, kind] <= _LIMIT:
            self._kept.append(Finding(severity, kind, message, self.file, int(line), **place._asdict()))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, by kind in the order of their first, then by line; then counts of those left out."""
        order = {kind: place for place, (_, kind) in reversed(list(enumerate(self._count)))}
        findings = sorted(self._kept, key=lambda finding: (order[finding.kind], finding.line))
        for (severity, kind), count in self._count.items():
            more = count - _LIMIT
            if more > 0:
                findings.append(Finding(severity, kind, f"and {more} more like these", self.file, count=more))
        return tuple(sorted(findings, key=lambda finding: order[finding.kind]))
