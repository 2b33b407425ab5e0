"""Nodes and edges of a file, and the options of reading it, before they are converted to a topology."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from obliv._util.rationals import rational
from obliv._util.text import did_you_mean, shown
from obliv.errors import FileError, InputError, SpecError, TopologyError

__all__ = ["MUST_BE", "Edge", "Links", "Options", "add", "positive", "speed", "unit"]

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


_NOTHING: Mapping[str, str] = {}


class Edge(NamedTuple):
    """A link as the file gives it, its ends as node numbers."""

    tail: int
    head: int
    line: int | None
    directed: bool | None
    """None where the direction of all edges of the file applies."""
    attributes: Mapping[str, str]


@dataclass
class Links:
    """Nodes in the order of their first mention, and the edges between them in the order of the file.

    Parameters
    ----------
    path : object
        The file, for messages; None if there is no file.
    directed : bool
        Whether an edge without a direction of its own is one channel rather than two.
    """

    path: object = None
    directed: bool = False
    names: list[str] = field(default_factory=list)
    attributes: list[Mapping[str, str]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    node_defaults: dict[str, str] = field(default_factory=dict)
    edge_defaults: dict[str, str] = field(default_factory=dict)
    """Attributes of the nodes and edges that do not give them themselves."""
    terminals: list[int] | None = None
    """The terminals that the format itself names, in their order."""
    notes: list[str] = field(default_factory=list)
    positions: list[tuple[float, float]] | None = None
    _number: dict[str, int] = field(default_factory=dict)
    _mentioned: list[int | None] = field(default_factory=list)
    _declared: dict[int, int | None] = field(default_factory=dict)

    def fault(self, message: str, line: int | None = None) -> InputError:
        """Return the error for something that is wrong at a line."""
        return TopologyError(message) if self.path is None else FileError(message, self.path, line)

    def mention(self, key: str, line: int | None = None) -> int:
        """Return the number of the node that the file calls `key`; a new one at its first mention."""
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.names)
            self.names.append(key)
            self.attributes.append(_NOTHING)
            self._mentioned.append(line)
        return number

    def declare(self, key: str, line: int | None, attributes: Mapping[str, str]) -> int:
        """Declare a node with its attributes; ``label`` becomes its name unless blank."""
        number = self.mention(key, line)
        if number in self._declared:
            first = self._declared[number]
            where = "" if first is None else f" (first in line {first})"
            raise self.fault(f"node {shown(key)} appears twice{where}: every node needs its own id", line)
        self._declared[number] = line
        self.attributes[number] = attributes
        label = attributes.get("label", self.node_defaults.get("label", ""))
        if label.strip():
            self.names[number] = label
        return number

    def join(
        self,
        tail: str,
        head: str,
        line: int | None = None,
        attributes: Mapping[str, str] = _NOTHING,
        directed: bool | None = None,
    ) -> None:
        """Add an edge between two nodes that the file calls `tail` and `head`."""
        self.edges.append(Edge(self.mention(tail, line), self.mention(head, line), line, directed, attributes))

    def require_declared(self) -> None:
        """Refuse edges to nodes that were never declared."""
        for key, number in self._number.items():
            if number not in self._declared:
                line = self._mentioned[number]
                raise self.fault(f"an edge names node {shown(key)}, which the file does not declare", line)

    def value(self, edge: Edge, attribute: str) -> str:
        """Return an attribute of an edge, empty if it has none."""
        return edge.attributes.get(attribute, self.edge_defaults.get(attribute, "")).strip()

    def node_value(self, node: int, attribute: str) -> str:
        """Return an attribute of a node, empty if it has none."""
        return self.attributes[node].get(attribute, self.node_defaults.get(attribute, "")).strip()

    def node_line(self, node: int) -> int | None:
        """Return the line where a node is declared, or first mentioned if it is never declared."""
        return self._declared.get(node, self._mentioned[node])

    def one_way(self, edge: Edge) -> bool:
        """Return whether an edge is one channel rather than two."""
        return self.directed if edge.directed is None else edge.directed

    def edge_name(self, edge: Edge) -> str:
        """Return the name of an edge in messages."""
        return f"{shown(self.names[edge.tail])} - {shown(self.names[edge.head])}"


def add(attributes: dict[str, str], name: str, value: str) -> None:
    """Set an attribute; a repeated value is joined to the first one, so that it is never taken for a number."""
    attributes[name] = f"{attributes[name][:40]},{value[:40]}" if name in attributes else value
