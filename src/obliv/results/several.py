"""Several results in one file, such as all that the live page shows of a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from obliv.results.base import Result, WithoutNetwork
from obliv.results.codec import Codec, entry

__all__ = ["Results"]


def _decode(data: list[dict[str, Any]]) -> tuple[Result, ...]:
    from obliv.results.loading import from_content  # which imports all kinds of results

    return tuple(map(from_content, data))


@dataclass(frozen=True, repr=False)
class Results(WithoutNetwork):
    """Several results of any kinds.

    Examples
    --------
    >>> import obliv
    >>> from obliv.results import Results
    >>> routing = obliv.DOR(obliv.ring(5))
    >>> Results(entries=(obliv.worst_case(routing), obliv.locality(routing))).entries[1].kind
    'locality'
    """

    kind: ClassVar[str] = "results"

    provenance: Any = entry(None, hidden=True)
    entries: tuple[Result, ...] = entry((), key="results", codec=Codec(lambda all: [r.to_dict() for r in all], _decode))

    @property
    def title(self) -> str:
        return f"{len(self.entries)} results"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of each result, with its kind."""
        for result in self.entries:
            yield from ({"kind": result.kind} | row for row in result.rows())

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.entries))

    def _repr_html_(self) -> str:
        return "".join(result._repr_html_() for result in self.entries)
