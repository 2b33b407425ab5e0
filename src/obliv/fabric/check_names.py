"""Nodes, ports and LIDs in messages, whatever the files call them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obliv.fabric.fabric import Fabric
from obliv.files import shown

__all__ = ["called", "lid_list", "plural", "port_name", "way_text"]

_MOST_HOPS = 8  # of a way that are printed


def called(fabric: Fabric, node: int) -> str:
    """A node: what the file calls it, and its description."""
    ident, text = fabric.ident[node], fabric.description[node].strip()
    if len(ident) > 40 or not (ident.isascii() and ident.replace("-", "").isalnum()):
        ident = shown(ident)
    return f"{ident} ({shown(text)})" if text else ident


def port_name(fabric: Fabric, slot: int) -> str:
    """A port: its node and its number."""
    return f"{called(fabric, int(fabric.node_of[slot]))} port {fabric.port_of(slot)}"


def way_text(fabric: Fabric, slots: Sequence[int]) -> str:
    """Channels one after the other, by the ports where they begin; of very many the first."""
    parts = [port_name(fabric, slot) for slot in slots[:_MOST_HOPS]]
    if len(slots) > _MOST_HOPS:
        parts.append(f"... ({len(slots) - _MOST_HOPS} more)")
    return " -> ".join(parts)


def lid_list(fabric: Fabric, lids: Iterable[int], owner: dict[int, int]) -> str:
    """One LID with its owner, or several; of very many the first."""
    some = list(lids)
    if len(some) == 1:
        slot = owner.get(some[0], -1)
        about = f" of {called(fabric, int(fabric.node_of[slot]))}" if slot >= 0 else ""
        return f"LID {some[0]}{about}"
    text = ", ".join(map(str, some[:5])) + (", ..." if len(some) > 5 else "")
    return f"{len(some)} LIDs ({text})"


def plural(count: int, word: str, more: str = "") -> str:
    """A number and its noun.

    Examples
    --------
    >>> plural(1, "switch", "switches"), plural(1000, "pair")
    ('1 switch', '1,000 pairs')
    """
    return f"{count:,} {word if count == 1 else more or word + 's'}"
