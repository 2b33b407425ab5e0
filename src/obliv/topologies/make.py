"""A topology from its spec, from links, or from an object of another library."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from obliv.errors import InputError, SpecError, TopologyError
from obliv.specs import CONVERTERS
from obliv.specs.registry import TOPOLOGIES, split_mix
from obliv.topologies.base import Number, Topology, positive_number, whole_numbers


def build(
    spec: str,
    nodes: int,
    links: Iterable[tuple[int, int]] | npt.NDArray[np.integer[Any]],
    *,
    bandwidth: Sequence[Number] = (),
    terminals: Sequence[int] | None = None,
    **more: Any,
) -> Topology:
    """Build a topology from a list of directed channels in any order.

    Parameters
    ----------
    spec : str
        What to call it.
    nodes : int
        Number of nodes.
    links : iterable of (tail, head), or integer array of shape (channels, 2)
        Directed channels; their numbers are by tail, then in the order given here. Self-loops and parallel channels
        are kept, and the network need not be connected: a routing reports pairs that it cannot serve.
    bandwidth : sequence of numbers, optional
        Packets per cycle of each link, in the order of `links`.
    terminals : sequence of int, optional
        Default: every node.
    **more
        Further fields of :class:`Topology`.

    Returns
    -------
    Topology

    Raises
    ------
    TopologyError
        If a channel names a node that does not exist, or a bandwidth is not positive.

    Examples
    --------
    >>> build("triangle", 3, [(0, 1), (1, 2), (2, 0)])
    <Topology triangle: 3 nodes, 3 channels, 3 terminals>
    """
    if isinstance(nodes, bool) or not isinstance(nodes, int | np.integer):
        raise TopologyError(f"{spec}: {nodes!r:.40} nodes: it must be a whole number")
    if not isinstance(links, Iterable):
        raise TopologyError(f"{spec}: links is a {type(links).__name__}, not a list of (tail, head)")
    if nodes >= 2**31:
        raise TopologyError(f"{spec}: {float(min(nodes, 10**300)):.3g} nodes; fewer than 2,147,483,648 are supported")
    pairs = whole_numbers(links if isinstance(links, np.ndarray) else list(links), f"{spec}: a channel is (tail, head)")
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
        raise TopologyError(f"{spec}: a channel is (tail, head), two node numbers")
    pairs = pairs.reshape(-1, 2)
    order = np.argsort(pairs[:, 0], kind="stable")
    pairs = pairs[order]
    speeds: tuple[Fraction, ...] = ()
    if len(bandwidth):
        if len(bandwidth) != len(pairs):
            raise TopologyError(f"{spec}: {len(bandwidth)} bandwidths are given for {len(pairs)} channels")
        speeds = tuple(positive_number(bandwidth[k], f"{spec}: the bandwidth of channel {k}") for k in order.tolist())
    if pairs.size and (pairs.min() < 0 or pairs.max() >= nodes):
        wrong = pairs.min() if pairs.min() < 0 else pairs.max()
        raise TopologyError(f"{spec}: a channel names node {wrong}, nodes are 0 to {nodes - 1}")
    return Topology(
        spec=spec,
        nodes=int(nodes),
        tail=pairs[:, 0].astype(np.int32),
        head=pairs[:, 1].astype(np.int32),
        bandwidth=speeds,
        terminals=np.arange(nodes, dtype=np.int32)
        if terminals is None
        else whole_numbers(terminals, f"{spec}: terminals are node numbers").astype(np.int32),
        **more,
    )


def topology(spec: str | Topology) -> Topology:
    """Return the topology that a spec names.

    Parameters
    ----------
    spec : str or Topology
        For example ``torus:9x9`` or ``file:network.graphml``; a Topology is returned as it is.

    Returns
    -------
    Topology

    Raises
    ------
    SpecError
        If the name is unknown or the parameters are wrong.

    Examples
    --------
    >>> import obliv
    >>> obliv.topology("torus:9x9")
    <Topology torus:9x9: 81 nodes, 324 channels, 81 terminals>
    """
    if isinstance(spec, Topology):
        return spec
    if not isinstance(spec, str):
        raise InputError(f"a topology is a spec or a Topology, not {type(spec).__name__}")
    if split_mix(spec) is not None:
        raise SpecError(f"{spec!r} is a mix: routings and traffic can be mixed, topologies cannot")
    try:
        network = _converted(TOPOLOGIES.make(spec), spec.strip())
    except TopologyError as error:
        if str(error).startswith(": "):  # about a network that has no spec yet
            raise TopologyError(f"{spec.strip()}{error}") from None
        raise
    if not isinstance(network, Topology):
        raise TopologyError(f"{spec}: the registered function returned {type(network).__name__}, not a Topology")
    if not network.spec:
        object.__setattr__(network, "spec", spec.strip())
    return network


def _converted(value: Any, spec: str) -> Any:
    """Return an object of another package, such as a graph of NetworkX, as a topology; anything else as it is."""
    packages = (kind.__module__.partition(".")[0] for kind in type(value).__mro__)
    converter = next((CONVERTERS[package] for package in packages if package in CONVERTERS), None)
    if converter is None:
        return value
    return getattr(importlib.import_module(converter.module), converter.function)(value, spec=spec)
