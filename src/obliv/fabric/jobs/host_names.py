"""Hosts by name: which terminals of a fabric a name or GUID means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from obliv._util.text import plural, printable, shown
from obliv.errors import InputError
from obliv.fabric.names import guid_of, nearest
from obliv.fabric.topology import FabricTopology

__all__ = ["HostNames"]


class HostNames:
    """The hosts of a fabric and their rails: the terminals of one host, one or several.

    A name is that of a terminal, the description of an adapter (``node001 HCA-1``), its first word (``node001``: all
    adapters whose descriptions begin so), that word without or with a domain, or the GUID of an adapter or port.

    Parameters
    ----------
    topology : FabricTopology
    """

    def __init__(self, topology: FabricTopology) -> None:
        fabric = topology.fabric
        self.topology = topology
        self._label: dict[str, int] = {}
        self._guid: dict[int, set[int]] = defaultdict(set)
        self._description: dict[str, set[int]] = defaultdict(set)
        self._first_word: dict[str, set[int]] = defaultdict(set)
        self._short: dict[str, set[str]] = defaultdict(set)
        self._terminals: dict[int, list[int]] = defaultdict(list)
        for terminal, slot in enumerate(topology.ends.tolist()):
            node = int(fabric.node_of[slot])
            self._terminals[node].append(terminal)
            self._label[topology.name_of(int(topology.terminals[terminal]))] = terminal
            self._guid[int(fabric.ports.guid[slot])].add(terminal)
            self._guid[int(fabric.nodes.guid[node])].add(terminal)
            text = fabric.nodes.description[node].strip()
            self._description[text].add(node)
            for word in text.split()[:1]:
                self._first_word[word].add(node)
                self._short[word.partition(".")[0]].add(word)
        self._guid.pop(0, None)

    def knows(self, name: str) -> bool:
        """Return whether a name is one of the fabric's as it stands, with blanks and brackets if there are any."""
        return name in self._label or name in self._description

    @property
    def hosts(self) -> int:
        """Number of hosts: adapters that share the first word of their descriptions count once."""
        return len(self._first_word)

    def find(self, name: str) -> tuple[int, ...]:
        """Return the terminals of a host, by the descriptions of its adapters and their ports; () if it is unknown.

        Raises
        ------
        InputError
            If the name is ambiguous.
        """
        if name in self._label:
            return (self._label[name],)
        nodes = self._description.get(name, set())
        if not nodes:
            if (guid := guid_of(name)) in self._guid:
                return tuple(sorted(self._guid[guid]))
            nodes = self._first_word.get(name, set())
        if not nodes:
            words = self._short.get(name.partition(".")[0], set())
            words = {word for word in words if "." not in word or "." not in name}
            nodes = set().union(*(self._first_word[word] for word in words))
        text = {node: self.topology.fabric.nodes.description[node].strip() for node in nodes}
        if len(set(text.values())) < len(nodes):
            raise InputError(
                f"the host {shown(name)} is ambiguous: {plural(len(nodes), 'adapter')} of the fabric have this name; "
                "write GUIDs"
            )
        return tuple(terminal for node in sorted(nodes, key=text.__getitem__) for terminal in self._terminals[node])

    def nearest(self, name: str, accepted: Callable[[str], bool]) -> str:
        """Return what may be meant by an unknown name, in words: names under which a host is found and `accepted`."""

        def known(word: str) -> bool:
            try:
                return word.isprintable() and len(word) <= 80 and accepted(word) and bool(self.find(word))
            except InputError:
                return False

        names: Iterable[str] = self._first_word or self._label
        near = [word for word in nearest(name, names) if known(word)][:3]
        if near:
            return f"did you mean {' or '.join(near)}?"
        example = printable(next(iter(names)))[:40]
        return f"the fabric has {plural(self.hosts, 'host')}, such as {example}"
