"""The result of a locality analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv._util.text import plural
from obliv.results.base import Result
from obliv.results.codec import Codec, codec_of, derived, entry

__all__ = ["Locality"]

_SHARE = codec_of(Fraction)
_LENGTHS = Codec(
    lambda lengths: [{"hops": hops, "share": _SHARE.encode(share)} for hops, share in enumerate(lengths)],
    lambda rows: tuple(_SHARE.decode(row["share"]) for row in rows),
)


@dataclass(frozen=True, repr=False)
class Locality(Result):
    """Path lengths: the mean over all pairs, its ratio to the minimum, and the distribution over all paths.

    ``lengths[h]`` is the share of pairs and paths that take h channels; None where only pair loads were given.
    ``skipped`` counts the pairs that a partial routing leaves out, as a whole or for a share of their packets.

    Examples
    --------
    >>> import obliv
    >>> obliv.locality(obliv.ROMM(obliv.mesh(3, 3)))
    locality: romm on mesh:3x3
      mean hops      16/9 = 1.77778
      minimal        16/9 = 1.77778
      times minimal  1
      longest path   4
    """

    kind: ClassVar[str] = "locality"

    hops: Fraction = entry(Fraction(0), label="mean hops")
    minimal_hops: Fraction = entry(Fraction(0), label="minimal")

    @property
    @derived(label="times minimal", reason="no terminal has another one to send to")
    def hops_over_minimal(self) -> Fraction | None:
        """Mean hops divided by the minimum for any routing; None if there is only one terminal."""
        return self.hops / self.minimal_hops if self.minimal_hops else None

    lengths: tuple[Fraction, ...] | None = entry(
        None,
        codec=_LENGTHS,
        label="longest path",
        text=lambda locality: None if locality.lengths is None else str(len(locality.lengths) - 1),
        reason="pair loads do not tell paths apart: give a routing",
    )

    skipped: int = entry(
        0,
        omit=lambda locality: not locality.skipped,
        label="left out",
        text=lambda locality: (
            f"{plural(locality.skipped, 'pair')} whose packets do not arrive" if locality.skipped else None
        ),
    )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each length of paths."""
        own = self.cells()
        for length, share in enumerate(self.lengths or ()):
            yield own | {"hops": length, "share": share}
