"""Networks as drawings for Graphviz (DOT)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path

from obliv._util.text import printable
from obliv.errors import InputError
from obliv.io.formats._write import cables, save
from obliv.topologies.base import Topology

__all__ = ["write_dot"]


def write_dot(topology: Topology, path: str | Path, loads: Sequence[Fraction] = ()) -> None:
    r"""Write a network as a drawing for Graphviz.

    Terminals are circles, other nodes are boxes. Without loads a link of two directions is one line, drawn without an
    arrow; with loads every channel is an arrow of its own, whose label is its load and whose width grows with it.
    Where nodes have positions, ``neato -n`` draws them there.

    Parameters
    ----------
    topology : Topology
        The network.
    path : str or Path
        The file, replaced only once it is complete.
    loads : sequence of Fraction
        A load of every channel, such as ``routing.pair_loads().under(traffic)``.

    Examples
    --------
    >>> import tempfile
    >>> from obliv.topologies.families.grids import line
    >>> path = Path(tempfile.mkdtemp(), "line.dot")
    >>> write_dot(line(3), path)
    >>> print(path.read_text())
    digraph "line:3" {
      0 [label="0", shape=circle, pos="0,0"];
      1 [label="1", shape=circle, pos="36,0"];
      2 [label="2", shape=circle, pos="72,0"];
      0 -> 1 [dir=none];
      1 -> 2 [dir=none];
    }
    <BLANKLINE>
    """
    if len(loads) not in (0, topology.channels):
        raise InputError(f"{len(loads)} loads for {topology.channels} channels: give every channel one")
    lines = [f"digraph {_quoted(topology.spec)} {{", *_nodes(topology), *_edges(topology, loads), "}"]
    save(path, "\n".join(lines) + "\n")


def _nodes(topology: Topology) -> Iterator[str]:
    terminals = set(topology.terminals.tolist())
    places = _places(topology)
    for node in range(topology.nodes):
        pos = f', pos="{places[node][0]:g},{places[node][1]:g}"' if places else ""
        shape = "circle" if node in terminals else "box"
        yield f"  {node} [label={_quoted(topology.name_of(node))}, shape={shape}{pos}];"


def _places(topology: Topology) -> list[tuple[float, float]]:
    """Return the place of every node in points, about an inch apart; empty where there is none."""
    if topology.positions is None:
        return []
    low, high = topology.positions.min(axis=0), topology.positions.max(axis=0)
    scale = 72 * (max(isqrt(topology.nodes - 1), 1)) / max(float((high - low).max()), 1e-9)
    return [(float(x), float(y)) for x, y in (topology.positions - low) * scale]


def _edges(topology: Topology, loads: Sequence[Fraction]) -> Iterator[str]:
    if not loads:
        for forth, back in cables(topology):
            speeds = {topology.bandwidth_of(c) for c in (forth, back) if c >= 0}
            one = " [dir=none" if back >= 0 else " ["
            label = f'label="{min(speeds)}"' if speeds != {Fraction(1)} else ""
            attributes = ", ".join(part for part in (one.strip(" ["), label) if part)
            yield f"  {_ends(topology, forth)}" + (f" [{attributes}];" if attributes else ";")
        return
    largest = max(loads) or 1
    for channel, load in enumerate(loads):
        width = 0.5 + 4.5 * float(load / largest)
        color = ', color="red"' if load == largest else ""
        yield f'  {_ends(topology, channel)} [label="{load}", penwidth={width:.2f}{color}];'


def _ends(topology: Topology, channel: int) -> str:
    return f"{int(topology.tail[channel])} -> {int(topology.head[channel])}"


def _quoted(text: str) -> str:
    r"""Return a text as a string of DOT, where a backslash is an escape."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
