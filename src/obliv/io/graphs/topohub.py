"""The networks of TopoHub, a repository of reference topologies, as topologies."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from obliv.errors import SpecError, extra
from obliv.io.formats._links import Links, Options
from obliv.io.formats._network import network
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology

__all__ = ["topohub"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*){0,3}\Z")


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
        bandwidth 1. Its SHA-256 is a source, so that claims about it hold for no other network of that name.

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
        links.complete()
        if places and None not in places:
            links.positions = [(float(x), float(y)) for x, y in places]
    except (KeyError, TypeError, ValueError) as error:
        raise SpecError(f"{spec}: topohub gives no network of nodes and links ({error!r})") from None
    content = json.dumps([graph.get("directed"), graph["nodes"], graph["edges"]], sort_keys=True, default=str)
    digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
    return replace(network(links, spec, options), sources=((f"topohub:{name}", digest),))


def _names(data: Path, pattern: str = "**/*.json") -> list[str]:
    """Return the names in TopoHub that fit a pattern of files."""
    return sorted(file.relative_to(data).with_suffix("").as_posix() for file in data.glob(pattern))


def _meant(data: Path, name: str) -> list[str]:
    """Return the names in TopoHub that a name without its group, or with other upper and lower case, may mean."""
    group, _, last = name.rpartition("/")
    names = _names(data, f"{group or '*'}/*.json")
    if group and name in names:
        return []
    return [other for other in names if other.rpartition("/")[2].lower() == last.lower()]


def _read(name: str) -> dict[str, Any]:
    try:
        package = importlib.import_module("topohub")
    except ImportError:
        raise extra("topohub", "topohub") from None
    wrong = f"topohub:{name[:60]}: TopoHub has no such network; names are like topozoo/Abilene and gabriel/25/0"
    if not _NAME.match(name):
        raise SpecError(wrong)
    data = Path(getattr(package, "__file__", None) or "").parent / "data"
    if others := _meant(data, name):
        raise SpecError(f"{wrong}; did you mean {' or '.join(others[:3])}?")  # also where files have no case
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # topohub leaves its files for the collector to close
            graph = package.get(name) if "/" in name else None
    except (KeyError, OSError):
        graph = None
    if not isinstance(graph, dict):
        near = get_close_matches(name, _names(data), 1, 0.85)
        raise SpecError(wrong + (f"; did you mean {near[0]}?" if near else ""))
    return graph
