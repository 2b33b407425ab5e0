"""Fabrics relabelled, and with cables or switches taken away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from obliv.fabric.model import Fabric, Nodes, Ports


def relabelled(fabric: Fabric, seed: int) -> tuple[Fabric, np.ndarray]:
    """The same fabric with nodes, and the ports of switches, in another order; and where every slot went."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(fabric.nodes))
    went = np.full(len(fabric.ports.peer), -1)
    first = [0]
    for v in order.tolist():
        start, end = (int(each) for each in fabric.first_slot[v : v + 2])
        ports = np.arange(1, end - start)
        if fabric.nodes.kind[v] == "switch":
            ports = rng.permutation(ports)
        went[start] = first[-1]
        went[start + 1 : end] = first[-1] + ports
        first.append(first[-1] + end - start)
    came = np.argsort(went)
    peer = fabric.ports.peer[came]
    return (
        replace(
            fabric,
            nodes=Nodes(
                kind=tuple(fabric.nodes.kind[v] for v in order),
                ident=tuple(fabric.nodes.ident[v] for v in order),
                guid=fabric.nodes.guid[order],
                description=tuple(fabric.nodes.description[v] for v in order),
                line=fabric.nodes.line[order],
            ),
            ports=Ports(
                peer=np.where(peer >= 0, went[peer], -1),
                guid=fabric.ports.guid[came],
                lid=fabric.ports.lid[came],
                lmc=fabric.ports.lmc[came],
                rate=fabric.ports.rate[came],
                line=fabric.ports.line[came],
            ),
            first_slot=np.array(first),
        ),
        went,
    )


def without(fabric: Fabric, slots: Iterable[int]) -> Fabric:
    """Without the cables at some slots."""
    peer = fabric.ports.peer.copy()
    for slot in slots:
        peer[peer[slot]] = -1
        peer[slot] = -1
    return fabric.with_ports(peer=peer)


def recabled(fabric: Fabric, one: int, other: int) -> Fabric:
    """With the far ends of two cables exchanged."""
    peer = fabric.ports.peer.copy()
    far = peer[[one, other]]
    peer[one], peer[other], peer[far[0]], peer[far[1]] = far[1], far[0], other, one
    return fabric.with_ports(peer=peer)


def cables(fabric: Fabric, hosts: bool = False) -> list[int]:
    """The lower slot of every cable between switches, or of every other one."""
    switch = np.array([kind == "switch" for kind in fabric.nodes.kind])
    slots = np.flatnonzero(fabric.ports.peer >= 0)
    far = fabric.ports.peer[slots]
    between = switch[fabric.node_of[slots]] & switch[fabric.node_of[far]]
    return slots[(slots < far) & (between != hosts)].tolist()


def of(fabric: Fabric, slots: Sequence[int]) -> list[int]:
    """The cables of some switches' ports."""
    return [slot for slot in slots if fabric.ports.peer[slot] >= 0]


def ports(fabric: Fabric, node: int) -> list[int]:
    """The cabled slots of a node."""
    return of(fabric, range(int(fabric.first_slot[node]), int(fabric.first_slot[node + 1])))
