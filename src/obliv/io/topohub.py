"""The networks of TopoHub, a repository of reference topologies, as topologies."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path
from typing import Any

from obliv.errors import SpecError, extra
from obliv.io._links import Links
from obliv.io._network import network
from obliv.io._options import Options
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology

__all__ = ["topohub"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*){1,3}\Z")


@register_topology("topohub", example="topohub:topozoo/Abilene")
def topohub(name: str, component: str = "") -> Topology:
    """Network of TopoHub: Internet Topology Zoo, SNDlib, Gabriel graphs, backbones and others.

    Parameters
    ----------
    name : str
        Group and name as in TopoHub: ``topozoo/Abilene``, ``sndlib/polska``, ``gabriel/25/0``, ``backbone/africa``.
    component : str
        ``largest``: take the largest component. Default: a disconnected network is refused.

    Returns
    -------
    Topology
        Nodes have the order, names and places (longitude, latitude) of TopoHub; every link is two channels of
        bandwidth 1.

    Raises
    ------
    SpecError
        If TopoHub has no such network.
    MissingExtraError
        If the package topohub is not installed.

    Examples
    --------
    >>> topohub("sndlib/polska").labels[:3]
    ('Gdansk', 'Bydgoszcz', 'Kolobrzeg')
    """
    spec = f"topohub:{name}" + (f",component={component}" if component else "")
    options = Options(component=component)
    graph = _read(name)
    links = Links(directed=bool(graph.get("directed")))
    places = []
    try:
        for node in graph["nodes"]:
            links.declare(str(node["id"]), None, {"label": str(node.get("name") or node["id"])})
            places.append(node.get("pos"))
        for link in graph["edges"]:
            links.join(str(link["source"]), str(link["target"]))
        links.require_declared()
        if places and None not in places:
            links.positions = [(float(x), float(y)) for x, y in places]
    except (KeyError, TypeError, ValueError) as error:
        raise SpecError(f"{spec}: topohub gives no network of nodes and links ({error!r})") from None
    return network(links, spec, options)


def _other_case(package: Path, name: str) -> str:
    """Return the name in TopoHub that differs from the given one by nothing but upper and lower case, or nothing."""
    group, _, last = name.rpartition("/")
    stems = sorted(file.stem for file in (package.parent / "data" / group).glob("*.json"))
    same = [stem for stem in stems if stem.lower() == last.lower()]
    return f"{group}/{same[0]}" if same and last not in same else ""


def _read(name: str) -> dict[str, Any]:
    try:
        package = importlib.import_module("topohub")
    except ImportError:
        raise extra("topohub", "topohub") from None
    wrong = f"topohub:{name[:60]}: TopoHub has no such network; names are like topozoo/Abilene and gabriel/25/0"
    if not _NAME.match(name):
        raise SpecError(wrong)
    if other := _other_case(Path(getattr(package, "__file__", None) or ""), name):
        raise SpecError(f"{wrong}; did you mean {other}?")  # on every system, also where files have no case
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # topohub leaves its files for the collector to close
            graph = package.get(name)
    except (KeyError, OSError):
        raise SpecError(wrong) from None
    if not isinstance(graph, dict):
        raise SpecError(wrong)
    return graph
