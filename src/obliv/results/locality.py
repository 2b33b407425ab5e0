"""The result of a locality analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import Result
from obliv.results.numbers import exact, number, shown

__all__ = ["Locality"]

_ALONE = "no terminal has another one to send to"


@dataclass(frozen=True, repr=False)
class Locality(Result):
    """How far packets go: the mean over all pairs, how much that is over the least, and the lengths of all paths.

    ``lengths[h]`` is the share of pairs and paths that take h channels; None where only pair loads were given.
    """

    kind: ClassVar[str] = "locality"

    hops: Fraction = Fraction(0)
    minimal_hops: Fraction = Fraction(0)
    lengths: tuple[Fraction, ...] | None = None

    @property
    def hops_over_minimal(self) -> Fraction | None:
        """Mean hops over the least that any routing needs; None where there is nowhere to go."""
        return self.hops / self.minimal_hops if self.minimal_hops else None

    def summary(self) -> list[tuple[str, str]]:
        lines = [
            ("mean hops", shown(self.hops)),
            ("minimal", shown(self.minimal_hops)),
            ("times minimal", shown(self.hops_over_minimal)),
        ]
        if self.lengths is not None:
            lines.append(("longest path", str(len(self.lengths) - 1)))
        return lines

    def rows(self) -> Iterator[dict[str, Any]]:
        for length, share in enumerate(self.lengths or ()):
            yield {"topology": self.topology, "routing": self.routing, "hops": length, "share": share}

    def to_dict(self) -> dict[str, Any]:
        made = super().to_dict()
        for name in ("hops", "minimal_hops", "hops_over_minimal"):
            made[name] = number(getattr(self, name))
        if self.hops_over_minimal is None:
            made["hops_over_minimal_reason"] = _ALONE
        if self.lengths is None:
            made |= {"lengths": None, "lengths_reason": "pair loads do not tell paths apart: give a routing"}
        else:
            made["lengths"] = [{"hops": h, "share": number(share)} for h, share in enumerate(self.lengths)]
        made["provenance"] = self.provenance
        return made

    @classmethod
    def from_dict(cls, made: dict[str, Any]) -> Locality:
        """The inverse of :meth:`to_dict`."""
        lengths = made["lengths"]
        return cls(
            topology=made["topology"],
            routing=made["routing"],
            provenance=made["provenance"],
            hops=exact(made["hops"]) or Fraction(0),
            minimal_hops=exact(made["minimal_hops"]) or Fraction(0),
            lengths=None if lengths is None else tuple(exact(each["share"]) or Fraction(0) for each in lengths),
        )
