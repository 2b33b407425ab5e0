"""The result of bounds: what no routing can beat on a network, and what one attains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from obliv.results.base import CERTIFICATE, Result
from obliv.results.codec import PACKED, derived, entry
from obliv.results.format import shown
from obliv.results.numbers import Bounds, bounds_of

__all__ = ["NetworkBounds"]

NO_PERMUTATION = "adaptive routing is bounded where every terminal sends and takes one packet per cycle"
TOO_LARGE = "the linear program does not fit in memory or in the time limit"


@dataclass(frozen=True, repr=False)
class NetworkBounds(Result):
    """Largest channel loads that no routing can beat, and what one attains: each exact or between two proved bounds.

    Parameters
    ----------
    capacity : Fraction or Bounds, optional
        Under uniform traffic, with the best routing for it. None, like `oblivious` and what follows from them, where
        the linear program does not fit in memory.
    oblivious : Fraction or Bounds, optional
        In the worst case of the best oblivious routing.
    adaptive : Fraction or Bounds, optional
        Under the worst permutation, with the best routing for each: what any adaptive routing could guarantee.
    bisection : Fraction or Bounds, optional
        Of the channels across the narrowest bisection, when every packet of one half crosses it.
    matching_bound : Fraction, optional
        Of the permutation with the longest shortest paths, if these were spread over all channels evenly: no routing,
        oblivious or adaptive, has a smaller worst case (Namyar et al.).
    permutation : tuple of int, optional
        A permutation with at least the lower bound of `adaptive`.
    matching_permutation : tuple of int, optional
        The permutation of `matching_bound`.
    half : tuple of int
        The nodes on one side of a narrow bisection.

    Examples
    --------
    >>> import obliv
    >>> obliv.bounds("torus:4x4")
    bounds: least channel loads on torus:4x4
      capacity                  1/2 = 0.5
      oblivious                 1
      adaptive                  1
      bisection                 1
      matching bound            1
      price of being oblivious  1
    """

    kind: ClassVar[str] = "bounds"

    capacity: Fraction | Bounds | None = entry(
        None, label="capacity", text=lambda bounds: _load(bounds.capacity), column="capacity", reason=TOO_LARGE
    )
    oblivious: Fraction | Bounds | None = entry(
        None, label="oblivious", text=lambda bounds: _load(bounds.oblivious), column="oblivious", reason=TOO_LARGE
    )
    adaptive: Fraction | Bounds | None = entry(
        None,
        label="adaptive",
        column="adaptive",
        reason=lambda bounds: TOO_LARGE if bounds.oblivious is None else NO_PERMUTATION,
    )
    bisection: Fraction | Bounds | None = entry(None, label="bisection", column="bisection", reason=TOO_LARGE)
    matching_bound: Fraction | None = entry(
        None, label="matching bound", column="matching_bound", reason=NO_PERMUTATION
    )

    @property
    @derived(label="price of being oblivious", text=lambda bounds: _price(bounds.price))
    def price(self) -> Fraction | Bounds | None:
        """The oblivious worst case over the adaptive one."""
        if self.oblivious is None or self.adaptive is None:
            return None
        low, high = bounds_of(self.oblivious), bounds_of(self.adaptive)
        lower, upper = max(Fraction(1), low[0] / high[1]), low[1] / high[0]
        return lower if lower == upper else Bounds(lower, upper)

    permutation: tuple[int, ...] | None = entry(None, codec=PACKED, rank=1, reason=NO_PERMUTATION)
    matching_permutation: tuple[int, ...] | None = entry(None, codec=PACKED, rank=1, reason=NO_PERMUTATION)
    half: tuple[int, ...] = entry((), codec=PACKED, rank=1)
    certificate: dict[str, Any] | None = entry(None, codec=CERTIFICATE, rank=2)

    @property
    def title(self) -> str:
        return f"bounds: least channel loads on {self.topology}"


def _load(load: Fraction | Bounds | None) -> str:
    return f"- ({TOO_LARGE})" if load is None else shown(load)


def _price(price: Fraction | Bounds | None) -> str | None:
    return None if price is None else shown(price)
