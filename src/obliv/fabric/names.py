"""Nodes and ports by name, as users write them: a description or identifier, NAME/PORT for a port."""

from __future__ import annotations

import re
from difflib import get_close_matches

import numpy as np

from obliv._util.text import printable
from obliv.errors import InputError
from obliv.fabric.model import Fabric

__all__ = ["NodeNames", "split_port"]


_GUID = re.compile(r"0x0*[1-9a-fA-F][0-9a-fA-F]{0,15}")
_PRINTED = re.compile(r" port [0-9]+\Z")


def split_port(text: str) -> tuple[str, int] | None:
    """Return the name and the port of a text ``NAME/PORT`` or, as results print it, ``NAME port PORT``; else None."""
    name, _, port = text.rpartition(" port ") if _PRINTED.search(text) else text.rpartition("/")
    return (name, int(port)) if name and port.isascii() and port.isdecimal() and len(port) < 6 else None


class NodeNames:
    """The nodes of a fabric by their identifiers in the file, or else by their descriptions or GUIDs.

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

    def find(self, name: str) -> int | None:
        """Return the node of this name, None if there is none.

        Raises
        ------
        InputError
            If several nodes have this name.
        """
        word = name.strip()
        nodes = (self._ident.get(name) or self._description.get(word) or []) if word else []
        if not nodes and _GUID.fullmatch(word):  # as findings name nodes
            nodes = np.flatnonzero(self.fabric.nodes.guid == np.uint64(int(word, 16))).tolist()
        if len(nodes) > 1:
            idents = ", ".join(printable(self.fabric.nodes.ident[node][:80]) for node in nodes[:3])
            raise InputError(f"{printable(name[:80])!r}: {len(nodes)} nodes have this name: use {idents}")
        return nodes[0] if nodes else None

    def named(self, name: str, advice: str, wanted: str = "") -> int:
        """Return the node of this name; InputError, with advice and the names nearest to `wanted`, without one."""
        node = self.find(name)
        if node is None:
            near = get_close_matches(wanted or name, sorted(self._description), 3)
            hint = f": did you mean {', '.join(printable(text[:80]) for text in near)}?" if near else ""
            raise InputError(f"{printable(name[:80])!r}: no such node: {advice}{hint}")
        return node

    def slot(self, name: str, port: int) -> int:
        """Return the slot of a port, -1 where the fabric has none; InputError where the name is not unique."""
        node = self.find(name)
        return self.fabric.slot(node, port) if node is not None else -1
