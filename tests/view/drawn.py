"""What stands on axes, found by name."""

from __future__ import annotations

from typing import Any

import obliv


def part(ax: Any, name: str) -> Any:
    """The one collection of that name, or None."""
    result = [each for each in ax.collections if each.get_gid() == name]
    assert len(result) <= 1
    return result[0] if result else None


def how_many(ax: Any, name: str) -> int:
    """How many arrows or dots the collection of that name holds."""
    held = part(ax, name)
    if held is None:
        return 0
    return len(held.get_offsets()) if name == "nodes" else len(held.get_paths())


def texts(ax: Any) -> list[str]:
    return [each.get_text() for each in ax.texts if each.get_text()]


def legend(ax: Any) -> list[str]:
    held = ax.get_legend()
    return [] if held is None else [each.get_text() for each in held.get_texts()]


def boxes(ax: Any) -> dict[str, Any]:
    """Where each text stands, without the lines that lead to it."""
    from matplotlib.text import Text

    ax.figure.draw_without_rendering()
    return {each.get_text(): Text.get_window_extent(each) for each in ax.texts if each.get_text()}


def everything(figure: Any) -> str:
    """All text of a figure: titles, labels, legends, ticks."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return "\n".join(each.get_text() for each in figure.findobj(Text))


def without_capacity() -> obliv.Topology:
    """Return a ring that is too large for the linear program of a capacity: 71 terminals times 142 channels."""
    return obliv.build("large", 71, [(v, (v + k) % 71) for v in range(71) for k in (1, -1)])
