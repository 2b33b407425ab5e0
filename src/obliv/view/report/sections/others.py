"""Results that have no place in the table, each with its figures."""

from __future__ import annotations

from typing import Any

from obliv._util.text import printable
from obliv.view.report.contents import Contents

__all__ = ["other_results"]

_LINES = 60


def other_results(contents: Contents) -> list[dict[str, Any]]:
    """Return title, figures and provenance of each result."""
    found = []
    for result, source in contents.others:
        lines = result.figures() or [("", line.strip()) for line in repr(result).split("\n")[1:]]
        made = result.provenance
        found.append(
            {
                "title": printable(result.title),
                "lines": [(printable(label), printable(text)) for label, text in lines[:_LINES]],
                "how": printable(f"{made.exactness}, obliv {made.version}" if made is not None else "a list"),
                "input": printable(contents.inputs[source].name),
            }
        )
    return found
