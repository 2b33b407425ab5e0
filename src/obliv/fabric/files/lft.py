"""Writers: forwarding tables for OpenSM (lft), ibsim's ``.net``, and fabrics for other programs (NetworkX, GraphML)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from obliv._util.files import write_pieces
from obliv._util.progress import Progress, rising
from obliv._util.text import did_you_mean, printable
from obliv.errors import FileError, SpecError, TopologyError, extra
from obliv.fabric.files.assemble import plain
from obliv.fabric.model import NONE, RATES, Fabric, Tables, typed
from obliv.fabric.names import require_writable_lids, safe
from obliv.fabric.topology import network
from obliv.io.formats.anynet import write_anynet as write_topology
from obliv.io.formats.gml import XmlItem, XmlKey, graphml_lines


@typed
def write_tables(tables: Tables, fabric: Fabric, path: str | Path, *, progress: Progress | None = None) -> None:
    """Write forwarding tables in the spelling of OpenSM's ``opensm-lfts.dump``.

    OpenSM does not check what it loads this way: check the tables first. It moves the entries of a port to the LIDs
    that the port has then, if every port has as many as here; so ``-l`` must name the LMC of the fabric.

    Parameters
    ----------
    tables : Tables
    fabric : Fabric
        With LIDs, and the GUIDs of switches and ports.
    path : str or Path
        Replaced only once it is complete.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Raises
    ------
    FileError
        If the tables cannot be loaded as they are: a switch without GUID, a port that the switch does not have
        (OpenSM would reject the whole file), LIDs beyond those of InfiniBand, unless the fabric has extended ones, or
        no table at all.

    Examples
    --------
    >>> import tempfile, obliv
    >>> from obliv.fabric.generate import from_topology, tables_of
    >>> tree = obliv.topology("fattree:4,2")
    >>> fabric = from_topology(tree)
    >>> path = Path(tempfile.mkdtemp(), "new.lfts")
    >>> write_tables(tables_of(obliv.routing("dmodk", tree), fabric), fabric, path)
    >>> print("".join(path.read_text().splitlines(True)[:3]), end="")
    Unicast lids [0-14] of switch Lid 1 guid 0x0002c90200001000 ('switch((0),1)'):
    0x0001 000 # Switch portguid 0x0002c90200001000: 'switch((0),1)'
    0x0007 001 # Channel Adapter portguid 0x0002c90300100001: 'host(0,0)'
    """
    require_writable_lids(fabric, path)
    if not len(tables.switch):
        raise FileError("cannot be written: there is no table", path)
    ports = np.diff(fabric.first_slot)
    for node, row in zip(tables.switch.tolist(), tables.out, strict=True):
        name = plain(fabric.nodes.label(node))
        if not fabric.nodes.guid[node]:
            raise FileError(f"cannot be written: switch '{name}' has no GUID, which OpenSM needs", path)
        used = row[row != NONE]
        if len(used) and used.max() >= ports[node]:
            raise FileError(
                f"cannot be written: the table of '{name}' names port {used.max()}, the last port is {ports[node] - 1}",
                path,
            )
    what = f"writing {path}"
    step = rising(progress)
    write_pieces(path, _blocks(tables, fabric, lambda share: step(what, share)))


def _blocks(tables: Tables, fabric: Fabric, step: Callable[[float], None]) -> Iterator[bytes]:
    about = _owners(fabric, tables.out.shape[1])
    head = [f"0x{lid:04x} ".encode() for lid in range(tables.out.shape[1])]
    port_text = [f"{port:03d}".encode() for port in range(NONE + 1)]
    for done, (node, row) in enumerate(zip(tables.switch.tolist(), tables.out, strict=True), 1):
        lids = np.flatnonzero(row != NONE)
        top = int(lids[-1]) if len(lids) else 0
        own = fabric.ports.lid[fabric.first_slot[node]]
        guid, name = int(fabric.nodes.guid[node]), plain(fabric.nodes.description[node])
        title = f"Unicast lids [0-{top}] of switch Lid {own} guid 0x{guid:016x} ('{name}'):\n"
        texts = [b""] * (3 * len(lids))
        texts[::3] = map(head.__getitem__, lids.tolist())
        texts[1::3] = map(port_text.__getitem__, row[lids].tolist())
        texts[2::3] = map(about.__getitem__, lids.tolist())
        yield title.encode("utf-8", "replace") + b"".join(texts) + f"{top} lids dumped\n".encode()
        step(done / len(tables.switch))


def _owners(fabric: Fabric, lids: int) -> list[bytes]:
    """Return for every LID the text behind its port: its owner."""
    owners = [b" # unknown\n"] * lids
    for slot in np.flatnonzero(fabric.ports.lid > 0).tolist():
        node = int(fabric.node_of[slot])
        guid = int(fabric.ports.guid[slot]) or (
            int(fabric.nodes.guid[node]) if fabric.nodes.kind[node] == "switch" else 0
        )
        if not guid:
            continue
        kind = {"switch": "Switch", "router": "Router"}.get(fabric.nodes.kind[node], "Channel Adapter")
        text = f" # {kind} portguid 0x{guid:016x}: '{plain(fabric.nodes.description[node])}'\n".encode(
            "utf-8", "replace"
        )
        first = int(fabric.ports.lid[slot])
        end = min(first + (1 << int(fabric.ports.lmc[slot])), lids)
        owners[first:end] = [text] * (end - first)
    return owners


# Writer of ``.net`` files, which ibsim simulates; ``ibnetdiscover`` writes the same format


_TYPES = {"switch": "Switch", "ca": "Ca", "router": "Rt"}
_GUIDS = {"switch": "switchguid", "ca": "caguid", "router": "rtguid"}
_SPEED_BITS = {"SDR": 1, "DDR": 2, "QDR": 4}
_WIDTH_BITS = {"1x": 1, "4x": 2, "8x": 4, "12x": 8}
_NAMES = {rate: name for name, rate in sorted(RATES.items(), key=lambda item: item[0].startswith("4x"))}


def rate_name(rate: Fraction | None) -> str:
    """Return a width and speed that carry a rate, with four lanes where that is possible."""
    return _NAMES.get(rate, "") if rate is not None else ""


@typed
def write_net(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as a ``.net`` file: hosts first, then switches, with the LIDs that it has.

    ibsim reads it as it is; OpenSM then runs on the first host of the file. In descriptions, characters that are not
    printable, quotes and what ibsim takes for options become question marks.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        Replaced only once it is complete.

    Returns
    -------
    tuple of str
        Parts that the format cannot hold and that were left out.

    Examples
    --------
    >>> import tempfile, obliv
    >>> from obliv.fabric.generate import from_topology
    >>> path = Path(tempfile.mkdtemp(), "small.net")
    >>> write_net(from_topology(obliv.topology("fattree:4,2"), lids=False), path)
    ()
    >>> print("".join(path.read_text().splitlines(True)[:6]), end="")
    vendid=0x2c9
    devid=0x673c
    sysimgguid=0x2c90300100000
    caguid=0x2c90300100000
    Ca	1 "H-0002c90300100000"		# "host(0,0)"
    [1](2c90300100001) 	"S-0002c90200001000"[1]		# lid 0 lmc 0 "switch((0),1)" lid 0 4xQDR
    """
    require_writable_lids(fabric, path)
    names = _idents(fabric)
    order = sorted(range(len(fabric.nodes)), key=lambda v: fabric.nodes.kind[v] == "switch")
    writable = [v for v in order if fabric.nodes.kind[v] in _TYPES]
    if not writable:
        raise FileError("cannot be written: the fabric has no node of known type", path)
    write_pieces(path, (_record(fabric, v, names) for v in writable))
    left = len(fabric.nodes) - len(writable)
    return (f"{left} nodes of unknown type and their cables",) if left else ()


def _idents(fabric: Fabric) -> list[str]:
    """Return the identifier of each node: as in its file, where that can be written and is unique."""
    names: list[str] = []
    used = set(fabric.nodes.ident)
    for v, ident in enumerate(fabric.nodes.ident):
        name = ident
        if not ident.isascii() or not ident.isprintable() or set(ident) & set("\"'#@=") or not 0 < len(ident) < 60:
            name = f"{'S' if fabric.nodes.kind[v] == 'switch' else 'H'}-{int(fabric.nodes.guid[v]):016x}"
            if not fabric.nodes.guid[v] or name in used:
                name = next(f"node{n}" for n in range(v, v + len(used) + 1) if f"node{n}" not in used)
            used.add(name)
        names.append(name)
    return names


def _record(fabric: Fabric, node: int, names: list[str]) -> bytes:
    kind, guid = fabric.nodes.kind[node], int(fabric.nodes.guid[node])
    first, end = int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])
    lines = []
    if guid:
        device = "0xbd36" if kind == "switch" else "0x673c"  # of the QDR generation, which all tools know
        own = f"{_GUIDS[kind]}=0x{guid:x}" + (f"({guid:x})" if kind == "switch" else "")
        lines += ["vendid=0x2c9", f"devid={device}", f"sysimgguid=0x{guid:x}", own]
    text = _described(fabric, node)
    about = f" base port 0 lid {fabric.ports.lid[first]} lmc {fabric.ports.lmc[first]}" if kind == "switch" else ""
    lines.append(f'{_TYPES[kind]}\t{end - first - 1} "{names[node]}"\t\t# "{text}"{about}')
    for slot in range(first + 1, end):
        peer = int(fabric.ports.peer[slot])
        if peer < 0 or fabric.nodes.kind[other := int(fabric.node_of[peer])] not in _TYPES:
            continue
        port_guid = int(fabric.ports.guid[slot])
        own = f"({port_guid:x}) " if kind != "switch" and port_guid else ""
        far_end = f'"{names[other]}"[{fabric.port_of(peer)}]'
        if fabric.nodes.kind[other] != "switch" and fabric.ports.guid[peer]:
            far_end += f"({int(fabric.ports.guid[peer]):x})"
        peer_lid = fabric.ports.lid[fabric.first_slot[other] if fabric.nodes.kind[other] == "switch" else peer]
        near_lid = f"lid {fabric.ports.lid[slot]} lmc {fabric.ports.lmc[slot]} " if kind != "switch" else ""
        lines.append(
            f'[{slot - first}]{own}\t{far_end}\t\t# {near_lid}"{_described(fabric, other)}" lid {peer_lid}'
            + _speed(fabric.rate_at(slot))
        )
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


def _described(fabric: Fabric, node: int) -> str:
    return plain(fabric.nodes.description[node], "=#@")


def _speed(rate: Fraction | None) -> str:
    """Return width and speed, with ibsim's own options where it would take another."""
    name = rate_name(rate)
    if not name:
        return ""
    lanes, _, speed = name.partition("x")
    width = lanes + "x"
    if name == "4xQDR" or speed not in _SPEED_BITS or width not in _WIDTH_BITS:
        return f" {name}"
    return f" {name} s={_SPEED_BITS[speed]} w={_WIDTH_BITS[width]}"


# Fabrics for other programs: NetworkX, GraphML, BookSim2's anynet, ibsim's ``.net``


_SUFFIXES = {".net": "net", ".graphml": "graphml", ".xml": "graphml", ".anynet": "anynet"}


@typed
def export(fabric: Fabric, path: str | Path, format: str = "") -> tuple[str, ...]:
    """Write a fabric for another program.

    Parameters
    ----------
    fabric : Fabric
    path : str or Path
        Replaced only once it is complete.
    format : {"net", "graphml", "anynet"}, optional
        Default: by the end of the name.

    Returns
    -------
    tuple of str
        Parts that the format cannot hold and that were left out.

    Raises
    ------
    SpecError
        If the format is unknown.
    TopologyError
        If the format cannot hold the fabric.
    FileError
        If it cannot be written.

    Examples
    --------
    >>> import obliv, tempfile
    >>> from obliv.fabric.generate import from_topology
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(from_topology(obliv.topology("fattree:4,2")), f"{folder}/tree.graphml")
    ()
    """
    known: dict[str, Callable[[Fabric, str | Path], tuple[str, ...]]]
    known = {"net": write_net, "graphml": write_graphml, "anynet": write_anynet}
    chosen = format or _SUFFIXES.get(Path(path).suffix.lower(), "")
    if chosen not in known:
        message = f"format {format[:40]!r} is unknown: " if format else "the format is unclear from the name: "
        raise SpecError(message + (did_you_mean(format, known) if format else "end it in .net, .graphml or .anynet"))
    return known[chosen](fabric, path)


@typed
def to_networkx(fabric: Fabric) -> Any:
    """Return a fabric as a ``networkx.MultiGraph``.

    Parameters
    ----------
    fabric : Fabric
        Its nodes become the numbers from 0 with `kind`, `ident`, `guid` (hex digits), `label` (the description as it
        is) and `lid` for switches; every cable becomes an edge with `source`, `source_port`, `target`, `target_port`,
        the LIDs of ports of hosts as `source_lid` and `target_lid`, and `rate` in Gb/s, a Fraction, where it is known.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate import from_topology
    >>> graph = to_networkx(from_topology(obliv.topology("fattree:4,2")))
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (14, 16)
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise extra("networkx", "networkx") from None
    graph = networkx.MultiGraph(name=fabric.name)
    for node in range(len(fabric.nodes)):
        graph.add_node(node, label=fabric.nodes.description[node], **_about(fabric, node))
    for near, far, about in _cables(fabric):
        graph.add_edge(near, far, source=near, target=far, **about)
    return graph


def write_graphml(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as GraphML, an edge for every cable."""
    # Nodes have `label`, `kind`, `guid`, `lid` and, where they send and take traffic, their number `terminal`; edges
    # have their ports and `rate` in Gb/s. `file:PATH,bandwidth=rate,terminals=numbered` reads it as a topology.
    # Characters that XML has no place for become question marks.
    write_pieces(path, (line.encode("utf-8") + b"\n" for line in _graphml(fabric)))
    return ()


def _graphml(fabric: Fabric) -> Iterator[str]:
    whole = all(rate.denominator == 1 for rate in fabric.rates)
    keys = (
        *(XmlKey(name, "node", "string") for name in ("label", "kind", "ident", "guid")),
        *(XmlKey(name, "node", "int") for name in ("lid", "terminal")),
        *(XmlKey(name, "edge", "int") for name in ("source_port", "target_port", "source_lid", "target_lid")),
        XmlKey("rate", "edge", "long" if whole else "string"),
    )
    return graphml_lines(fabric.name, keys, _nodes(fabric), _edges(fabric), directed=False)


def _nodes(fabric: Fabric) -> Iterator[XmlItem]:
    senders = dict.fromkeys(fabric.node_of[fabric.endpoints].tolist())
    number = {node: k for k, node in enumerate(senders)}
    for node in range(len(fabric.nodes)):
        about = {"label": fabric.nodes.description[node] or fabric.nodes.ident[node], **_about(fabric, node)}
        if node in number:
            about["terminal"] = number[node]
        yield XmlItem({"id": f"n{node}"}, {name: printable(str(value)) for name, value in about.items()})


def _edges(fabric: Fabric) -> Iterator[XmlItem]:
    for near, far, about in _cables(fabric):
        yield XmlItem({"source": f"n{near}", "target": f"n{far}"}, about)


def write_anynet(fabric: Fabric, path: str | Path) -> tuple[str, ...]:
    """Write a fabric as a network file of BookSim2's ``anynet``: switches are its routers, endpoints its nodes."""
    topology = network(fabric)
    seen: dict[tuple[int, int], int] = {}
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        first = seen.setdefault((tail, head), channel)
        if first != channel:
            one, other = (topology.port_name(int(topology.slot_of[c])) for c in (first, channel))
            there = safe(topology.name_of(head))
            raise TopologyError(
                f"anynet has no parallel cables, and {one} and {other} both lead to {there}: write GraphML or .net"
            )
    if not topology.unit_bandwidth:
        slow = next(c for c, speed in enumerate(topology.bandwidth) if speed != topology.bandwidth[0])
        where = topology.port_name(int(topology.slot_of[slow]))
        raise TopologyError(
            f"anynet has no speeds, and the cable at {where} differs from others: write GraphML or .net"
        )
    write_topology(topology.with_rates(), path)
    return ()


def _about(fabric: Fabric, node: int) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"kind": fabric.nodes.kind[node], "ident": fabric.nodes.ident[node]}
    if fabric.nodes.guid[node]:
        attributes["guid"] = f"{int(fabric.nodes.guid[node]):016x}"
    lid = int(fabric.ports.lid[fabric.first_slot[node]])
    return attributes | ({"lid": lid} if lid and fabric.nodes.kind[node] == "switch" else {})


def _cables(fabric: Fabric) -> Iterator[tuple[int, int, dict[str, int | Fraction]]]:
    """Yield every cable once: the nodes at its ends, and its attributes."""
    for near in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        far = int(fabric.ports.peer[near])
        if near > far:
            continue
        about: dict[str, int | Fraction] = {"source_port": fabric.port_of(near), "target_port": fabric.port_of(far)}
        lids = {"source_lid": int(fabric.ports.lid[near]), "target_lid": int(fabric.ports.lid[far])}
        about |= {name: lid for name, lid in lids.items() if lid > 0}
        rate = fabric.rate_at(near)
        if rate is not None:
            about["rate"] = rate
        yield int(fabric.node_of[near]), int(fabric.node_of[far]), about
