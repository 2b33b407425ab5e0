"""Options of reading a network from a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from obliv._util.rationals import rational
from obliv._util.text import did_you_mean
from obliv.errors import SpecError

__all__ = ["MUST_BE", "Options", "positive", "speed", "unit"]

MUST_BE = "it must be a positive, finite number such as 10, 2.5 or 1/3"

_TEXTS = {
    "bandwidth": 'the name of an attribute that all links have, such as bandwidth="capacity"',
    "default": 'a speed as text, such as default="10"',
    "terminals": "all, internal or numbered; with_terminals takes nodes",
    "component": "largest, or empty",
}
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SPEED = re.compile(r"(.*?)\s*([kmgt]?)(?:bps|bits?/s|b/s)?", re.IGNORECASE | re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Options:
    """Attributes and nodes to take from a file.

    Parameters
    ----------
    bandwidth : str
        The edge attribute that is the bandwidth; empty for 1 everywhere.
    default : str
        The bandwidth of edges without that attribute; empty to refuse them.
    terminals : str
        ``all`` nodes, the ``internal`` ones (Internal=1), the ``numbered`` ones (by their attribute terminal);
        empty for those that the format defines, or all.
    component : str
        ``largest`` takes the largest component; empty refuses a disconnected network.
    injection, ejection : str
        The node attributes that are the terminals' rates; empty for 1 everywhere.
    """

    bandwidth: str = ""
    default: str = ""
    terminals: str = ""
    component: str = ""
    injection: str = ""
    ejection: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, str):
                what = _TEXTS.get(name, "the name of an attribute")
                raise SpecError(f"{name}={value!r:.40} is not a text: it is {what}")
        if self.default and not self.bandwidth:
            raise SpecError("default= is the bandwidth of links that lack the attribute of bandwidth=: use both")
        if self.default and speed(self.default) is None:
            raise SpecError(f"default={self.default}: {MUST_BE}")
        for name, value, known in (
            ("terminals", self.terminals, ("all", "internal", "numbered")),
            ("component", self.component, ("largest",)),
        ):
            if value and value not in known:
                raise SpecError(f"{name}={value} is unknown: {did_you_mean(value, known)}")


def positive(text: str) -> Fraction | None:
    """Return the positive rational that a text stands for; None if it is anything else."""
    number = rational(text)
    return number if number is not None and number > 0 else None


def unit(text: str) -> int | None:
    """Return the bit/s of a unit such as ``G``, ``Mbps`` or ``Gbit/s``; None if it is unknown.

    Examples
    --------
    >>> unit("G"), unit("Mb/s"), unit("furlong")
    (1000000000, 1000000, None)
    """
    match = _SPEED.fullmatch(text.strip())
    return None if match is None or match[1] else _UNITS[match[2].lower()]


def speed(text: str) -> Fraction | None:
    """Return the positive rational that a bandwidth stands for, in bit/s if it has a unit; None if it is invalid.

    Examples
    --------
    >>> speed("10"), speed("2.5 Gb/s"), speed("-1G")
    (Fraction(10, 1), Fraction(2500000000, 1), None)
    """
    match = _SPEED.fullmatch(text.strip())
    number = None if match is None else positive(match[1])
    return None if match is None or number is None else number * _UNITS[match[2].lower()]
