"""What is noticed while a file is read, kept within bounds however broken the file is."""

from __future__ import annotations

from obliv.fabric.fabric import Finding

__all__ = ["Notes"]

_MOST = 200  # of one kind


class Notes:
    """Findings about one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.count: dict[str, int] = {}
        self.last_line = 0  # of the last finding
        self._severity: dict[str, str] = {}
        self._kept: list[Finding] = []

    def add(self, severity: str, kind: str, message: str, line: int = 0) -> None:
        """Note something; of very many of a kind only the first are kept, and counted."""
        self.last_line = int(line)
        self.count[kind] = self.count.get(kind, 0) + 1
        if self.count[kind] <= _MOST:
            self._severity[kind] = severity
            self._kept.append(Finding(severity, kind, message, self.file, int(line)))

    def findings(self) -> tuple[Finding, ...]:
        """What was noted, by kind in the order of the first, then by line."""
        order = {kind: place for place, kind in enumerate(self.count)}
        found = sorted(self._kept, key=lambda finding: (order[finding.kind], finding.line))
        for kind, count in self.count.items():
            if count > _MOST:
                more = Finding(self._severity[kind], kind, f"and {count - _MOST} more like these", self.file)
                found.insert(1 + max(k for k, finding in enumerate(found) if finding.kind == kind), more)
        return tuple(found)
