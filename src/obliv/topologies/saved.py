"""Networks as JSON inside claims, where no spec builds them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from obliv._util.arrays import IntArray
from obliv._util.files import pack, unpack_array
from obliv.errors import FileError, OblivError, SpecError, TopologyError
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.base import Topology, positive_number, require_network
from obliv.topologies.make import topology

#: The spec of a network whose rates or terminals were changed, after that of the network itself.
_CHANGED = re.compile(r"(.+?)(?: with (?:rates|\d+ terminals))+", re.DOTALL)
_LONGEST = 1000  # letters of a name, so that its end is found quickly
_ISOLATED = 256  # nodes of a small network, most of which may have no channel


def carried(network: Topology) -> dict[str, Any] | None:
    """Return a network as JSON where its spec does not build it; None where it does.

    A network with other rates or terminals than the one that the beginning of its spec builds refers to that one.

    Examples
    --------
    >>> import obliv
    >>> carried(obliv.build("pair", 2, [(0, 1), (1, 0)]))
    {'nodes': 2, 'tail': [0, 1], 'head': [1, 0]}
    >>> carried(obliv.ring(3).with_terminals([2, 0]))
    {'base': 'ring:3', 'terminals': [2, 0]}
    >>> carried(obliv.ring(3)) is None
    True
    """
    content: dict[str, Any] = {}
    if _is_known(network.spec):
        changed = _CHANGED.fullmatch(network.spec)
        base = None if changed is None else topology(changed[1])
        if base is None or not _same_channels(base, network):
            require_own_name(network)
            return None
        content["base"] = base.spec
    elif network.sources:
        return None
    else:
        content |= {"nodes": network.nodes, "tail": pack(network.tail), "head": pack(network.head)}
        content |= {"labels": list(network.labels)} if network.labels else {}
        content |= _rates("bandwidth", network.bandwidth)
    content |= {} if network.all_terminals else {"terminals": pack(network.terminals)}
    return content | _rates("injection", network.injection) | _rates("ejection", network.ejection)


def require_own_name(network: Topology) -> None:
    """Refuse a network that bears the name of another one: a claim about it would be read as one about that.

    Specs that name a file are not looked at, as the file may be another one by now: its digest is part of claims. With
    other terminals or rates, which the spec does not give, the channels must be those of the network before.
    """
    changed = _CHANGED.fullmatch(network.spec)
    spec = changed[1] if changed else network.spec
    if not _is_known(spec) or TOPOLOGIES.find(spec.partition(":")[0].strip()).reads_file:
        return
    try:
        named = topology(spec)
    except FileError:
        return
    except OblivError:
        named = None
    same = named is not None and (_same_channels(named, network) if changed else named.same_network(network))
    stated = network.capacity_load is not None and network.capacity_proof is None
    if named is not None and stated and not changed:
        same = same and network.capacity_load == named.capacity_load
    if not same:
        raise TopologyError(
            f"this network is called {network.spec!r:.80}, but is not what this spec builds; name it otherwise"
        )


def network_of(content: Any, spec: str, channels: int) -> Topology:
    """Return the network that :func:`carried` wrote, with the number of channels that the claim lists."""
    if not isinstance(content, dict):
        raise ValueError("the network is not an object")
    if len(spec) > _LONGEST:
        raise ValueError(f"the name of the network has {len(spec):,} letters, {_LONGEST:,} are allowed")
    try:
        network = _changed(content, spec) if "base" in content else _built(content, spec, channels)
        injection, ejection = (_rates_of(content, name, len(network.terminals)) for name in ("injection", "ejection"))
        return dataclasses.replace(network, injection=injection, ejection=ejection)
    except (KeyError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"the network cannot be read: {type(error).__name__}: {error!s:.80}") from None


def _is_known(spec: str) -> bool:
    """Return whether a spec begins with the name of a registered topology."""
    return spec.partition(":")[0].strip() in TOPOLOGIES


def _same_channels(one: Topology, two: Topology) -> bool:
    return (
        one.nodes == two.nodes
        and np.array_equal(one.tail, two.tail)
        and np.array_equal(one.head, two.head)
        and one.bandwidth == two.bandwidth
    )


def _changed(content: dict[str, Any], spec: str) -> Topology:
    """Return a network of a spec with other terminals."""
    changed = _CHANGED.fullmatch(spec)
    if changed is None or content["base"] != changed[1]:
        raise ValueError(f"the network is a changed {content['base']!r:.40}, the claim is about {spec!r:.80}")
    base = topology(changed[1])
    terminals = _terminals(content, base.nodes)
    return dataclasses.replace(
        base,
        spec=spec,
        terminals=terminals,
        injection=(),
        ejection=(),
        capacity_load=None,
        capacity_proof=None,
        translations=(),
    )


def _built(content: dict[str, Any], spec: str, channels: int) -> Topology:
    """Return a network of its own name."""
    if _is_known(spec):
        raise SpecError(f"the network inside has the name of another one, {spec!r:.80}")
    nodes, labels = content["nodes"], content.get("labels", [])
    if type(nodes) is not int or not 0 < nodes <= max(_ISOLATED, 3 * channels):
        raise ValueError(f"the network has {nodes!r:.40} nodes and {channels:,} channels")
    require_network(nodes, channels, spec)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError("the labels of the network are not a list of texts")
    ends = [_integers(content[name], channels) for name in ("tail", "head")]
    if any(len(side) != channels for side in ends):
        raise ValueError(f"the network does not have the {channels:,} channels that the claim lists")
    if any(((side < 0) | (side >= nodes)).any() for side in ends):
        raise ValueError("a channel of the network names a node that does not exist")
    return Topology(
        spec=spec,
        nodes=nodes,
        tail=ends[0].astype(np.int32),
        head=ends[1].astype(np.int32),
        terminals=_terminals(content, nodes),
        bandwidth=_rates_of(content, "bandwidth", channels),
        labels=tuple(labels),
    )


def _terminals(content: dict[str, Any], nodes: int) -> Any:
    if "terminals" not in content:
        return np.arange(nodes, dtype=np.int32)
    terminals = _integers(content["terminals"], nodes)
    if len(terminals) and not 0 <= terminals.min() <= terminals.max() < nodes:
        raise ValueError("a terminal of the network is not one of its nodes")
    return terminals.astype(np.int32)


def _integers(value: Any, most: int) -> IntArray:
    """Return an array of up to `most` whole numbers; its announced size is checked before it is unpacked."""
    if isinstance(value, dict):
        shape = value.get("shape")
        if not (isinstance(shape, list) and len(shape) == 1 and type(shape[0]) is int and shape[0] <= most):
            raise ValueError(f"an array of more than {most:,} numbers, or of another form")
    array: IntArray = unpack_array(value)
    if array.ndim != 1 or len(array) > most:
        raise ValueError(f"an array of more than {most:,} numbers, or of another form")
    return array


def _rates(name: str, rates: Sequence[Fraction]) -> dict[str, Any]:
    """Return rates as their different values, as text, and the number of the value that each one has."""
    if not rates:
        return {}
    number = {rate: k for k, rate in enumerate(dict.fromkeys(rates))}
    return {name: {"values": [str(rate) for rate in number], "index": pack([number[rate] for rate in rates])}}


def _rates_of(content: dict[str, Any], name: str, count: int) -> tuple[Fraction, ...]:
    if name not in content:
        return ()
    texts, index = content[name]["values"], _integers(content[name]["index"], count)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"the values of {name} are not a list of texts")
    if len(index) != count or (index < 0).any() or (index >= len(texts)).any():
        raise TopologyError(f"the network has {len(index)} values of {name}, {count} are needed, or one is missing")
    values = [positive_number(text, f"{name} of the network") for text in texts]
    return tuple(values[k] for k in index.tolist())
