"""What every result has: where it came from, and how it is shown, saved and drawn."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from obliv._util.codec import write_json
from obliv._util.text import printable
from obliv._version import __version__
from obliv.errors import extra
from obliv.results.numbers import spread

if TYPE_CHECKING:
    import pandas

__all__ = ["Result", "provenance"]


def provenance(
    specs: dict[str, Any],
    seconds: float,
    exactness: str = "exact",
    seed: int | None = None,
    sources: tuple[tuple[str, str], ...] = (),
) -> dict[str, Any]:
    """How a result was obtained, so that it can be made again."""
    made: dict[str, Any] = {
        "version": __version__,
        "specs": specs,
        "seed": seed,
        "wall_seconds": round(seconds, 6),
        "exactness": exactness,
    }
    if sources:
        made["sources"] = dict(sources)
    return made


@dataclass(frozen=True, repr=False)
class Result:
    """What every result has: where it came from, and how it is shown, saved and drawn."""

    kind: ClassVar[str] = "result"
    columns: ClassVar[tuple[str, ...]] = ()  #: Of its table, where that may have no rows.

    topology: str
    routing: str
    provenance: dict[str, Any]
    subject: Any = field(default=None, compare=False, kw_only=True)  # what was analysed, while it is at hand

    def summary(self) -> list[tuple[str, str]]:
        """Name and text of each figure."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON types; see the contract of the JSON output."""
        return {"kind": self.kind, "topology": self.topology, "routing": self.routing}

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the result's table."""
        yield {"topology": self.topology, "routing": self.routing}

    def to_dataframe(self) -> pandas.DataFrame:
        """The result's rows as a data frame (needs pandas); exact numbers and errors have columns of their own."""
        try:
            import pandas
        except ImportError:
            raise extra("pandas", "table") from None
        return pandas.DataFrame([spread(row) for row in self.rows()])

    def save(self, path: str | Path) -> None:
        """Write the result as JSON; compressed where the name ends in ``.gz``."""
        write_json(self.to_dict(), path)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result (needs matplotlib); returns the axes."""
        return importlib.import_module("obliv.view").plot(self, ax=ax, **options)

    def __repr__(self) -> str:
        figures = self.summary()
        width = max((len(name) for name, _ in figures), default=0)
        lines = [f"{self.kind}: {self.routing} on {self.topology}"]
        lines += [f"  {name:<{width}}  {text}" for name, text in figures]
        return "\n".join(map(printable, lines))  # names of files and nodes may hold anything

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(printable(name))}</th>"
            f"<td style='text-align:left'>{html.escape(printable(text))}</td></tr>"
            for name, text in self.summary()
        )
        title = html.escape(printable(f"{self.kind}: {self.routing} on {self.topology}"))
        return f"<table><caption style='text-align:left'>{title}</caption>{body}</table>"
