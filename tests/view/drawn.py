"""What stands on axes, found by name."""

from __future__ import annotations

from typing import Any


def part(ax: Any, name: str) -> Any:
    """The one collection of that name, or None."""
    found = [each for each in ax.collections if each.get_gid() == name]
    assert len(found) <= 1
    return found[0] if found else None


def how_many(ax: Any, name: str) -> int:
    """How many arrows or dots the collection of that name holds."""
    held = part(ax, name)
    if held is None:
        return 0
    return len(held.get_offsets()) if name == "nodes" else len(held.get_paths())


def texts(ax: Any) -> list[str]:
    return [each.get_text() for each in ax.texts]
