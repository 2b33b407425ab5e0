"""The named graphs of NetworkX as topologies."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from obliv._util.text import did_you_mean
from obliv.errors import SpecError, extra
from obliv.io.graphs.networkx import from_networkx
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology

__all__ = ["named_graph"]


@register_topology("graph", example="graph:petersen")
def named_graph(name: str) -> Topology:
    """Named graph of NetworkX: petersen, heawood, icosahedral, karate-club and others.

    Parameters
    ----------
    name : str
        The name of its function without ``_graph``; ``-`` stands for ``_``.

    Returns
    -------
    Topology
        Nodes as in :func:`obliv.from_networkx`; every edge is two channels of bandwidth 1.

    Raises
    ------
    SpecError
        If NetworkX has no such named graph.
    MissingExtraError
        If NetworkX is not installed.

    Examples
    --------
    >>> named_graph("petersen")
    <Topology graph:petersen: 10 nodes, 30 channels, 10 terminals>
    """
    word = name.strip().lower().replace("_", "-").removesuffix("-graph")
    graphs = _graphs()
    if word not in graphs:
        raise SpecError(f"graph:{name[:40]}: NetworkX has no such named graph; {did_you_mean(word, graphs)}")
    return from_networkx(graphs[word](), spec=f"graph:{word}")


def _graphs() -> dict[str, Callable[[], Any]]:
    """Return the functions of NetworkX that make one graph each, by name."""
    graphs = {}
    try:
        modules = [importlib.import_module(f"networkx.generators.{kind}") for kind in ("small", "social")]
    except ImportError:
        raise extra("networkx", "networkx") from None
    for module in modules:
        for name in module.__all__:
            make = getattr(module, name)
            parameters = inspect.signature(make).parameters.values()
            if all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in parameters):
                graphs[name.removesuffix("_graph").replace("_", "-")] = make
    return graphs
