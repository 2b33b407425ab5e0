"""The native format of SNDlib: the parts of a network file, as text with the lines where they stand.

::

    ?SNDlib native format; type: network; version: 1.0
    NODES ( id ( x y ) ... )
    LINKS ( id ( source target ) preCap preCost routingCost setupCost ( {moduleCap moduleCost}* ) ... )
    DEMANDS ( id ( source target ) routingUnit value maxPathLength|UNLIMITED ... )
    ADMISSIBLE_PATHS ( id ( pathId ( link* ) ... ) ... )
    META ( ... )
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from obliv._util.rationals import rational
from obliv._util.text import did_you_mean, lines, shown
from obliv.errors import FileError

__all__ = ["Demand", "Link", "SndlibNetwork", "SndlibNode", "is_native", "parse"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_DIGITS = 40
_SECTIONS = ("META", "NODES", "LINKS", "DEMANDS", "ADMISSIBLE_PATHS")
_TYPE = re.compile(r"type:\s*([^;\s]*)")
_NATIVE = re.compile(r"^(?:NODES|LINKS|DEMANDS)[ \t]*\(", re.MULTILINE)


class SndlibNode(NamedTuple):
    """A node with its coordinates, usually longitude and latitude."""

    name: str
    x: Fraction
    y: Fraction
    line: int


class Link(NamedTuple):
    """A link: the capacity that is installed already, and those of its modules, largest first."""

    name: str
    source: str
    target: str
    installed: Fraction
    modules: tuple[Fraction, ...]
    line: int


class Demand(NamedTuple):
    """A demand: its value times its routing unit."""

    name: str
    source: str
    target: str
    value: Fraction
    line: int


@dataclass
class SndlibNetwork:
    """The parts of a file, in its order."""

    nodes: list[SndlibNode] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    sections: dict[str, int] = field(default_factory=dict)
    """The lines where sections begin."""


def is_native(text: str) -> bool:
    """Return whether a text looks like a network of SNDlib in its native format."""
    return text.lstrip().startswith("?SNDlib") or _NATIVE.search(text[: 1 << 16]) is not None


def parse(text: str, path: object = None) -> SndlibNetwork:
    r"""Parse a network file.

    Examples
    --------
    >>> parse("NODES ( a ( 0 0 ) b ( 1 0 ) ) LINKS ( l ( a b ) 0 0 0 0 ( 40 1 ) )").links[0].modules
    (Fraction(40, 1),)
    """
    return _SndlibReader(text, path).read()


class _SndlibReader:
    """The tokens that are left."""

    def __init__(self, text: str, path: object) -> None:
        self.path = path
        self.network = SndlibNetwork()
        self.tokens = self._tokens(text)
        self.line = 1
        self.known: set[str] = set()

    def _tokens(self, text: str) -> Iterator[tuple[str, int]]:
        number = 1
        for number, line in enumerate(lines(text), 1):
            content = line.partition("#")[0]
            if content.lstrip().startswith("?"):
                kind = _TYPE.search(content)
                if kind and kind[1].lower() != "network":
                    raise self.fault(f"is a file of type {shown(kind[1])}: only networks are read", number)
                continue
            for token in _TOKEN.findall(content):
                yield token, number
        self.line = number

    def fault(self, message: str, line: int | None = None) -> FileError:
        return FileError(message, self.path, line or self.line)

    def next(self, inside: str) -> str:
        """Return the next token; refuse the end of the file."""
        token, self.line = next(self.tokens, ("", self.line))
        if not token:
            raise self.fault(f"the file ends inside {inside}; it seems to have been cut: get it again")
        return token

    def expect(self, wanted: str, inside: str) -> None:
        token = self.next(inside)
        if token != wanted:
            raise self.fault(f"{shown(token)} where {wanted} is expected in {inside}")

    def word(self, what: str, inside: str) -> str:
        token = self.next(inside)
        if token in ("(", ")"):
            raise self.fault(f"{token} where {what} is expected in {inside}")
        return token

    def number(self, what: str, inside: str) -> Fraction:
        return self.value(self.word(what, inside), what, inside)

    def value(self, token: str, what: str, inside: str) -> Fraction:
        # decimals of limited length, so that sums of many have limited denominators
        value = None if len(token) > _DIGITS or "/" in token else rational(token)
        if value is None:
            raise self.fault(f"{what} of {inside} is {shown(token)}: it must be a number such as 10 or 2.5")
        return value

    def amount(self, what: str, inside: str) -> Fraction:
        return self.positive(self.number(what, inside), what, inside)

    def positive(self, value: Fraction, what: str, inside: str) -> Fraction:
        if value < 0:
            raise self.fault(f"{what} of {inside} is negative")
        return value

    def read(self) -> SndlibNetwork:
        parts = {"NODES": self.node, "LINKS": self.link, "DEMANDS": self.demand}
        for name, line in self.tokens:
            self.line = line
            if name not in _SECTIONS:
                raise self.fault(
                    f"{shown(name)} where a section of SNDlib's native format is expected, "
                    f"such as  NODES ( ... ): {did_you_mean(name[:80], _SECTIONS)}"
                )
            if name in self.network.sections:
                raise self.fault(f"a second section {name}; the first is in line {self.network.sections[name]}")
            self.network.sections[name] = line
            self.expect("(", name)
            self.known = set()
            if name in parts:
                while (entry := self.next(name)) != ")":
                    self.entry(name, entry, parts)
            else:
                self.skip(name)
        self._require_nodes()
        return self.network

    def entry(self, section: str, name: str, parts: Mapping[str, Callable[[str, str, int], None]]) -> None:
        if name == "(":
            raise self.fault(f"( where a name or ) is expected in {section}")
        inside = f"{section[:-1].lower()} {shown(name)}"
        if name in self.known:
            raise self.fault(f"{inside} appears twice")
        self.known.add(name)
        parts[section](name, inside, self.line)

    def skip(self, section: str) -> None:
        """Skip to the end of a section whose content is not used."""
        depth = 1
        while depth:
            token = self.next(section)
            depth += (token == "(") - (token == ")")

    def node(self, name: str, inside: str, line: int) -> None:
        self.expect("(", inside)
        x, y = self.number("x", inside), self.number("y", inside)
        self.expect(")", inside)
        self.network.nodes.append(SndlibNode(name, x, y, line))

    def ends(self, inside: str) -> tuple[str, str]:
        self.expect("(", inside)
        source, target = self.word("the source", inside), self.word("the target", inside)
        self.expect(")", inside)
        return source, target

    def link(self, name: str, inside: str, line: int) -> None:
        ends = self.ends(inside)
        installed = self.amount("the pre-installed capacity", inside)
        for what in ("its cost", "the routing cost", "the setup cost"):
            self.number(what, inside)
        self.expect("(", inside)
        modules = []
        while (token := self.next(inside)) != ")":
            what = "the capacity of a module"
            modules.append(self.positive(self.value(token, what, inside), what, inside))
            self.number("the cost of a module", inside)
        self.network.links.append(Link(name, *ends, installed, tuple(sorted(modules, reverse=True)), line))

    def demand(self, name: str, inside: str, line: int) -> None:
        ends = self.ends(inside)
        value = self.amount("the routing unit", inside) * self.amount("the value", inside)
        longest = self.word("the maximum path length", inside)
        if longest != "UNLIMITED" and not re.fullmatch(r"\d{1,9}", longest, re.ASCII):
            raise self.fault(
                f"the maximum path length of {inside} is {shown(longest)}: it must be a whole number or UNLIMITED"
            )
        self.network.demands.append(Demand(name, *ends, value, line))

    def _require_nodes(self) -> None:
        """Refuse links and demands between nodes that the file does not have."""
        if "NODES" not in self.network.sections:
            raise self.fault("there is no section NODES in it")
        names = {node.name for node in self.network.nodes}
        for kind, entries in (("link", self.network.links), ("demand", self.network.demands)):
            for entry in entries:
                for end in (entry.source, entry.target):
                    if end not in names:
                        raise self.fault(
                            f"{kind} {shown(entry.name)} names node {shown(end)}, which the file does not have",
                            entry.line,
                        )
