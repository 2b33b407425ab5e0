"""Nodes and ports by name, as users write them: a description, identifier or GUID, NAME/PORT for a port."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from obliv._util.text import printable
from obliv.errors import InputError
from obliv.fabric.model import Fabric

__all__ = [
    "NodeNames",
    "cut_port",
    "guid_of",
    "nearest",
    "out_of_range",
    "port_number",
    "safe",
    "split_port",
    "unpadded",
]


_GUID = re.compile(r"(?:0x([0-9a-f]{1,16})|(?:\w-)?([0-9a-f]{16}))\Z", re.ASCII | re.IGNORECASE)
_PRINTED = re.compile(r" port [0-9]+\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?:port|p|ib)?[ _#-]*(\d{1,9})", re.IGNORECASE | re.ASCII)
_CUT = re.compile(r"(.+)(?:/|:|\[(?=[^\[\]]*\]))([^/:\[\]]*)\]?", re.DOTALL)
#: ``IDENT ('DESCRIPTION')`` as in findings, or ``LABEL [IDENT]`` as in results.
_CALLED = re.compile(r"""(\S+)\ \((?:'.*'|".*")\)\Z|.*\ \[([^\[\]]+)\]\Z""", re.DOTALL)
_PARTS = re.compile(r"[;:/\s]+")  # MF0;leaf-01:MQM8700/U1 is four words
_LONGEST = 80  # characters of a name in messages
_MOST = 3  # suggestions


def safe(text: str, longest: int = 64) -> str:
    """Return a text from a file with its unprintable characters replaced, cut where it is very long."""
    shown = printable(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def port_number(text: str) -> int | None:
    """Return the number of a port as people write it, ``17``, ``P17`` or ``Port 17``; None for anything else."""
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) if match is not None else None


def cut_port(text: str) -> tuple[str, str] | None:
    """Return what stands before and behind the last ``/`` or ``:``, or in brackets at the end; None for neither."""
    match = _CUT.fullmatch(text)
    return (match[1], match[2]) if match is not None else None


def split_port(text: str) -> tuple[str, int] | None:
    """Return the name and the port of a text ``NAME/PORT``, or as results and people write it; else None.

    Examples
    --------
    >>> [split_port(text) for text in ("a/17", "a port 17", "a/P17", "a:17", "a[17]")] == [("a", 17)] * 5
    True
    """
    if _PRINTED.search(text):
        name, word = text[: text.lower().rindex(" port ")], text.rpartition(" ")[2]
    else:
        name, word = cut_port(text) or ("", "")
    port = port_number(word)
    return (name, port) if name and port is not None and port < 100_000 else None


def out_of_range(fabric: Fabric, node: int) -> str:
    """Return which ports a node has, of one that it has not."""
    return f"does not exist: ports are 1 to {int(fabric.first_slot[node + 1] - fabric.first_slot[node]) - 1}"


def guid_of(text: str) -> int:
    """Return the GUID that a text is, as messages and identifiers write it; 0 if it is none.

    Examples
    --------
    >>> guid_of("0x2c9"), guid_of("S-00000000000002c9"), guid_of("2c9")
    (713, 713, 0)
    """
    match = _GUID.match(text)
    return int(match[1] or match[2], 16) if match is not None else 0


def unpadded(name: str) -> str:
    """Return a name in small letters, its numbers without leading zeros: ``Node012`` as ``node12``."""
    return re.sub(r"[0-9]+", lambda number: number[0].lstrip("0") or "0", name.lower())


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that may be meant, the likeliest first: those with the word as a part, or spelled alike.

    Examples
    --------
    >>> switches = ["MF0;leaf-01:MQM8700/U1", "MF0;leaf-02:MQM8700/U1", "MF0;spine-1:MQM8700/U1"]
    >>> nearest("leaf-01", switches), nearest("LEAF-2", switches), nearest("spin-1", switches)
    (['MF0;leaf-01:MQM8700/U1'], ['MF0;leaf-02:MQM8700/U1'], ['MF0;spine-1:MQM8700/U1'])
    """
    word = wanted.strip()[:_LONGEST].casefold()
    if not word:
        return []
    known = list(dict.fromkeys(names))
    words = {name: {name, *_PARTS.split(name)} for name in known}
    tests: tuple[Callable[[str], bool], ...] = (
        lambda name: any(part.casefold() == word for part in words[name]),
        lambda name: any(unpadded(part) == unpadded(word) for part in words[name]),
        lambda name: word in name.casefold(),
    )
    for test in tests:
        if near := [name for name in known if test(name)]:
            return near
    owners: dict[str, list[str]] = {}
    for name in known:
        for part in words[name]:
            if len(part) > 2:
                owners.setdefault(part.casefold(), []).append(name)
    return list(dict.fromkeys(name for part in get_close_matches(word, owners, _MOST, 0.7) for name in owners[part]))


class NodeNames:
    """The nodes of a fabric by their identifiers in the file, or else by their descriptions, GUIDs or printed names.

    Parameters
    ----------
    fabric : Fabric
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._ident: dict[str, list[int]] = {}
        self._description: dict[str, list[int]] = {}
        for node, (ident, text) in enumerate(zip(fabric.nodes.ident, fabric.nodes.description, strict=True)):
            self._ident.setdefault(ident, []).append(node)
            self._description.setdefault(text.strip(), []).append(node)

    def all(self, name: str) -> list[int]:
        """Return the nodes of this name."""
        word = name.strip()
        nodes = (self._ident.get(name) or self._description.get(word) or []) if word else []
        if not nodes and (guid := guid_of(word)):
            nodes = sorted({int(self.fabric.node_of[slot]) for slot in self.slots_of(guid)})
        if not nodes and (called := _CALLED.match(word)) is not None:  # as findings and results name nodes
            nodes = self._ident.get(called[1] or called[2]) or []
        if not nodes and word:
            nodes = self._printed.get(word) or []
        if not nodes and _PRINTED.search(word):  # a port of an adapter that uses several
            nodes = [v for v in self.all(word.rpartition(" port ")[0]) if self.fabric.nodes.kind[v] != "switch"]
        return nodes

    def slots_of(self, guid: int) -> list[int]:
        """Return the slots of the ports of a node with this GUID, or else those that have it themselves."""
        nodes = np.flatnonzero(self.fabric.nodes.guid == np.uint64(guid))
        first = self.fabric.first_slot
        if len(nodes):
            return [slot for v in nodes.tolist() for slot in range(int(first[v]), int(first[v + 1]))]
        return np.flatnonzero(self.fabric.ports.guid == np.uint64(guid)).tolist()

    def find(
        self, name: str, form: Callable[[str], str] = str, accepted: Callable[[str], object] | None = str
    ) -> int | None:
        """Return the node of this name, None if there is none.

        Parameters
        ----------
        name : str
        form, accepted : callable, optional
            As for :meth:`hint`, of texts that tell nodes of the same name apart; None for no such texts.

        Raises
        ------
        InputError
            If several nodes have this name.
        """
        nodes = self.all(name)
        if len(nodes) > 1:
            texts = self._offered(map(form, filter(None, map(self.typed, nodes))), accepted)
            use = f": use {' or '.join(texts)}" if texts else ""
            raise InputError(f"{printable(name[:_LONGEST])!r}: {len(nodes)} nodes have this name{use}")
        return nodes[0] if nodes else None

    def slot(self, name: str, port: int) -> int:
        """Return the slot of a port, -1 where the fabric has none; InputError where the name is not unique."""
        node = self.find(name)
        return self.fabric.slot(node, port) if node is not None else -1

    def typed(self, node: int) -> str:
        """Return a name that users can type for a node: its description, identifier or GUID; "" if there is none."""
        nodes = self.fabric.nodes
        for text in (nodes.description[node].strip(), nodes.ident[node], f"0x{int(nodes.guid[node]):016x}"):
            if text and text.isprintable() and len(text) <= _LONGEST and self.all(text) == [node]:
                return text
        return ""

    def meant(self, name: str) -> Iterator[str]:
        """Yield the names, as users can type them, of nodes that may be meant by an unknown name."""
        for near in nearest(name, [text for text in self._description if text] + list(self._ident)):
            for node in self._description.get(near) or self._ident[near]:
                if text := self.typed(node):
                    yield text

    def hint(self, name: str, form: Callable[[str], str], accepted: Callable[[str], object] | None) -> str:
        """Return in words what may be meant: texts with names near to one that is unknown, if they are accepted.

        Parameters
        ----------
        name : str
        form : callable
            The text with another name in the place of this one.
        accepted : callable or None
            Raises InputError where such a text is refused; None for no hint.
        """
        texts = self._offered(map(form, self.meant(name)), accepted) if accepted is not None else []
        return f": did you mean {' or '.join(texts)}?" if texts else ""

    def _offered(self, texts: Iterable[str], accepted: Callable[[str], object] | None) -> list[str]:
        """Return the first texts that are accepted."""
        offered: dict[str, None] = {}
        if accepted is None:
            return []
        for text in texts:
            try:
                accepted(text)
            except InputError:
                continue
            offered[text] = None
            if len(offered) == _MOST:
                break
        return list(offered)

    @cached_property
    def _printed(self) -> dict[str, list[int]]:
        """Nodes by what results print of long or unprintable names."""
        nodes: dict[str, list[int]] = {}
        for node in range(len(self.fabric.nodes)):
            label = self.fabric.nodes.label(node)
            if (text := safe(label)) != label:
                nodes.setdefault(text, []).append(node)
        return nodes
