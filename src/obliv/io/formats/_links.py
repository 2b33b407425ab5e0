"""Nodes and edges of a file, and the options of reading it, before they are converted to a topology."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from obliv._util.rationals import rational, speed, speed_hint
from obliv._util.text import did_you_mean, shown
from obliv.errors import FileError, InputError, SpecError, TopologyError

__all__ = ["Condition", "Edge", "Links", "Options", "add"]

_TEXTS = {
    "bandwidth": 'the name of an attribute that all links have, such as bandwidth="capacity"',
    "default": 'a speed as text, such as default="10"',
    "terminals": "all, internal, numbered, leaves, a name such as gpu* or a condition; with_terminals takes nodes",
    "component": "largest, or empty",
    "directed": "yes, no, or empty for what the file says",
}
#: A terminal's condition: an attribute, and how it compares with a number or a word.
_CONDITION = re.compile(r"(?P<attribute>[^<>=!*?\[\]|]+?)\s*(?P<how><=|>=|!=|==|<|>|=)\s*(?P<value>.+)", re.DOTALL)


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
        ``all`` nodes, the ``internal`` ones (Internal=1), the ``numbered`` ones (by their attribute terminal), the
        ``leaves`` (nodes with a single neighbor), those whose names fit a pattern such as ``gpu*`` or ``cpu*|gpu*``,
        or those whose attribute fits a condition such as ``numServer>0`` or ``type=host``; empty for those that the
        format defines, or all.
    component : str
        ``largest`` takes the largest component; empty refuses a disconnected network.
    injection, ejection : str
        The node attributes that are the terminals' rates; empty for 1 everywhere.
    directed : str
        ``no``: a directed edge without one back gets a channel back; ``yes``: every edge is one channel; empty for
        what the file says.
    """

    bandwidth: str = ""
    default: str = ""
    terminals: str = ""
    component: str = ""
    injection: str = ""
    ejection: str = ""
    directed: str = ""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, str):
                what = _TEXTS.get(name, "the name of an attribute")
                raise SpecError(f"{name}={value!r:.40} is not a text: it is {what}")
        if self.default and not self.bandwidth:
            raise SpecError("default= is the bandwidth of links that lack the attribute of bandwidth=: use both")
        if self.default and speed(self.default) is None:
            raise SpecError(f"default={self.default}: {speed_hint(self.default)}")
        if self.condition is None and not set(self.terminals) & set("*?["):
            _require_known("terminals", self.terminals, ("all", "internal", "numbered", "leaves"))
        _require_known("component", self.component, ("largest",))
        _require_known("directed", self.directed, ("no", "yes"))

    @property
    def condition(self) -> Condition | None:
        """The condition on an attribute that terminals fulfil; None if they are chosen otherwise."""
        match = _CONDITION.fullmatch(self.terminals)
        return None if match is None else Condition(**match.groupdict())


class Condition(NamedTuple):
    """How an attribute compares with a value: as numbers where both are, else as words."""

    attribute: str
    how: str
    value: str

    def holds(self, text: str) -> bool:
        """Return whether an attribute fulfils the condition; a missing one never does."""
        mine, other = rational(text), rational(self.value)
        if mine is None or other is None:
            return bool(text) and self.how in ("=", "==", "!=") and (text == self.value) == (self.how != "!=")
        less, equal = mine < other, mine == other
        return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less, "!=": not equal}.get(
            self.how, equal
        )


def _require_known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value and value not in known:
        more = "; or a name such as gpu*, or a condition such as numServer>0" if name == "terminals" else ""
        raise SpecError(f"{name}={value} is unknown: {did_you_mean(value, known)}{more}")


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
        """Declare a node with its attributes; its label becomes its name unless blank."""
        number = self.mention(key, line)
        if number in self._declared:
            first = self._declared[number]
            where = "" if first is None else f" (first in line {first})"
            raise self.fault(f"node {shown(key)} appears twice{where}: every node needs its own id", line)
        self._declared[number] = line
        self.attributes[number] = attributes
        self.names[number] = self._label(attributes) or key
        return number

    def _label(self, attributes: Mapping[str, str]) -> str:
        """Return the label that a node has itself, or that yEd drew beside it; empty if it has neither."""
        labels = (attributes.get(name, self.node_defaults.get(name, "")) for name in ("label", "y:NodeLabel"))
        return next((label for label in labels if label.strip()), "")

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

    def complete(self) -> None:
        """Refuse edges to nodes that were never declared; name nodes without a label by `name` if all have one."""
        for key, number in self._number.items():
            if number not in self._declared:
                line = self._mentioned[number]
                raise self.fault(f"an edge names node {shown(key)}, which the file does not declare", line)
        names = [self.node_value(node, "name") for node in range(len(self.names))]
        if all(names):
            unlabeled = (not self._label(attributes) for attributes in self.attributes)
            self.names = [name if bare else own for own, name, bare in zip(self.names, names, unlabeled, strict=True)]

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
