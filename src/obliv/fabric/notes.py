"""What is noticed while a file is read, kept within bounds however broken the file is."""

from __future__ import annotations

from collections import Counter

from obliv.fabric.model import Finding

__all__ = ["Notes"]

_MOST = 200  # of one severity and kind


class Notes:
    """Findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.last_line = 0  # of the last finding
        self._count: Counter[tuple[str, str]] = Counter()  # of each severity and kind
        self._kept: list[Finding] = []

    def add(self, severity: str, kind: str, message: str, line: int = 0) -> None:
        """Note something; of very many of a severity and kind only the first are kept, and counted."""
        self.last_line = int(line)
        self._count[severity, kind] += 1
        if self._count[severity, kind] <= _MOST:
            self._kept.append(Finding(severity, kind, message, self.file, int(line)))

    def findings(self) -> tuple[Finding, ...]:
        """What was noted, by kind in the order of the first, then by line; at the end how many more there were."""
        order = {kind: place for place, (_, kind) in reversed(list(enumerate(self._count)))}
        found = sorted(self._kept, key=lambda finding: (order[finding.kind], finding.line))
        for (severity, kind), count in self._count.items():
            more = count - _MOST
            if more > 0:
                found.append(Finding(severity, kind, f"and {more} more like these", self.file, count=more))
        return tuple(sorted(found, key=lambda finding: order[finding.kind]))
