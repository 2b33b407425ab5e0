"""Lists of the registered topologies, routings or traffic patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from obliv.results.base import WITHOUT_INPUTS, Provenance, WithoutNetwork
from obliv.results.codec import Record, entry

__all__ = ["Listing", "Name"]


@dataclass(frozen=True)
class Name(Record):
    """A registered name with an example, its aliases and a summary."""

    name: str = entry(column="name")
    example: str = entry(column="example")
    aliases: tuple[str, ...] = entry()
    summary: str = entry(column="summary")

    def cells(self) -> dict[str, Any]:
        """Return the row, with the aliases as one text."""
        return {"name": self.name, "example": self.example, "aliases": " ".join(self.aliases), "summary": self.summary}


@dataclass(frozen=True, repr=False)
class Listing(WithoutNetwork):
    """The registered names of a kind, such as "routings"."""

    kind: ClassVar[str] = "list"
    table: ClassVar[str] = "names"

    provenance: Provenance = entry(default_factory=Provenance, codec=WITHOUT_INPUTS, rank=1)
    what: str = ""
    names: tuple[Name, ...] = entry((), key="rows")

    def __repr__(self) -> str:
        wide, wider = (max((len(row[column]) for row in self.names), default=0) for column in ("name", "example"))
        return "\n".join(f"{row.name:<{wide}}  {row.example:<{wider}}  {row.summary}" for row in self.names)
