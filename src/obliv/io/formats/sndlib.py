"""Networks of SNDlib in its native format; their demands are the traffic ``demands:PATH``."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from obliv._util import sndlib
from obliv._util.text import plural
from obliv.io.formats._links import Links, Options
from obliv.io.formats._network import from_file
from obliv.topologies.base import Topology

__all__ = ["parse", "read_sndlib"]


def read_sndlib(path: str | Path, *, bandwidth: str = "", default: str = "", component: str = "") -> Topology:
    r"""Read a network of SNDlib in its native format.

    Parameters
    ----------
    path : str or Path
        The file.
    bandwidth : str
        ``preinstalled`` for the installed capacity of each link, ``module`` for its largest module, or ``capacity`` for
        the installed one where it is positive and else the module. Default: 1 everywhere.
    default, component : str
        As for :func:`obliv.io.formats.topology_file.file`.

    Returns
    -------
    Topology
        Nodes are labeled by their ids, and positions are their coordinates. Every link is two channels with its full
        capacity; parallel links are merged, with the sum of their capacities.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pair.txt")
    >>> _ = path.write_text("NODES ( a ( 0 0 ) b ( 1 0 ) ) LINKS ( l ( a b ) 0 0 0 0 ( 40 1 ) )")
    >>> read_sndlib(path, bandwidth="capacity").bandwidth_of(0)
    Fraction(40, 1)
    """
    return from_file(path, parse, Options(bandwidth, default, component=component), format="sndlib")


def parse(text: str, path: object = None) -> Links:
    """Parse a network of SNDlib."""
    network = sndlib.parse(text, path)
    links = Links(path)
    for node in network.nodes:
        links.declare(node.name, node.line, {})
    links.positions = [(float(node.x), float(node.y)) for node in network.nodes]
    merged: dict[tuple[str, str], sndlib.Link] = {}
    sums: dict[tuple[str, str], dict[str, Fraction]] = {}
    for link in network.links:
        module = link.modules[0] if link.modules else Fraction(0)
        ends = (min(link.source, link.target), max(link.source, link.target))
        merged.setdefault(ends, link)
        total = sums.setdefault(ends, dict.fromkeys(("preinstalled", "module", "capacity"), Fraction(0)))
        for name, capacity in zip(total, (link.installed, module, link.installed or module), strict=True):
            total[name] += capacity
    for ends, link in merged.items():
        attributes = {name: str(value) for name, value in sums[ends].items() if value}
        links.join(link.source, link.target, link.line, attributes)
    if merged:
        links.notes.append(
            f"{plural(len(merged), 'link')} taken as undirected: two channels each, both with the full capacity"
        )
    if parallel := len(network.links) - len(merged):
        links.notes.append(
            f"{plural(parallel, 'parallel link')} merged: one link for each pair of nodes, capacities added"
        )
    if network.demands:
        where = f"demands:{path}" if path is not None else "demands:PATH"
        links.notes.append(f"{plural(len(network.demands), 'demand')} in it: use them as the traffic  {where}")
    return links
