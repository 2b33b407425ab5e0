"""The worst case of every channel (γ_c of Towles, section 2), and the classes that symmetries make of them."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from obliv._util.progress import Progress, rising, within
from obliv._util.rationals import boolean
from obliv.analysis.subject import Subject, by_specs, identity, loads_of, sources_of, subject_of, with_known_capacity
from obliv.analysis.worst_case.exact import worst_case
from obliv.analysis.worst_case.symmetry import orbits, verified
from obliv.loads.search import Problem, announce_channels, calls_of, one_after_another
from obliv.results import Channel
from obliv.results.analysis.worst_channels import ChannelWorst, WorstChannels
from obliv.topologies.maps import terminal_map

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["worst_channels"]


@by_specs
def worst_channels(
    x: Subject,
    *,
    symmetry: str = "auto",
    certificate: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WorstChannels:
    """Return the worst case of every channel, and which channels are alike.

    Parameters
    ----------
    x : Routing or PairLoads
    symmetry : {"auto", "search", "off"}
        As for :func:`obliv.worst_case`.
    certificate : bool
        Whether to keep what proves the largest load, and with it that no channel exceeds it.
    executor : concurrent.futures.Executor, optional
        As for :func:`obliv.worst_case`.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    WorstChannels
        Exact. One channel of each class is solved; classes are those of the symmetries verified on the pair loads.

    Raises
    ------
    InputError
        If the pair loads are estimates.

    References
    ----------
    [Tow01] B. Towles, "Finding worst-case permutations for oblivious routing algorithms", Stanford CVA memo 121, 2001.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_channels(obliv.DOR(obliv.mesh(3, 2)))
    >>> sorted({row.channel_load for row in result.channels})
    [Fraction(1, 1), Fraction(2, 1)]
    """
    certificate = boolean(certificate, "certificate")
    began = time.perf_counter()
    step = rising(progress)
    subject = subject_of(x, "worst_channels")
    loads = loads_of(subject, "worst_channels", within(step, 0.0, 0.3))
    topology, rates = loads.topology, loads.rates
    focus = orbits(topology, verified(loads, symmetry, within(step, 0.3, 0.3))).focus
    load: dict[int, Fraction] = {}
    classes = sorted(set(focus.tolist()))
    step = within(step, 0.3, 1.0)
    with calls_of(Problem(loads, rates, prices=False), executor, step) as calls:
        announce_channels(np.array(classes, np.int64), step, calls)
        for solved in one_after_another(np.array(classes, np.int64), step, calls):
            for channel, solution in solved:
                units = loads.denominator * rates.scale
                load[channel] = Fraction(solution.value, units) / topology.bandwidth_of(channel)
    rows = [
        ChannelWorst(channel=Channel(c, tail, head), channel_load=load[of], focus=of)
        for c, (tail, head, of) in enumerate(
            zip(topology.tail.tolist(), topology.head.tolist(), focus.tolist(), strict=True)
        )
    ]
    proof = worst_case(loads, symmetry=symmetry, certificate=True, executor=executor) if certificate and rows else None
    largest = max((row.channel_load for row in rows), default=Fraction(0))
    first = next((row.channel for row in rows if row.channel_load == largest), None)
    known = [g for g in topology.generators if terminal_map(topology, g) is not None]
    return WorstChannels(
        **identity(subject, began),
        subject=x,
        capacity=with_known_capacity(topology).capacity,
        rated=not topology.unit_rates,
        network_classes=len(np.unique(orbits(topology, known).focus)),
        routing_classes=len(load),
        channels=tuple(rows),
        channel=proof.channel if proof else first,
        permutation=proof.permutation if proof else None,
        traffic=proof.traffic if proof else None,
        certificate=proof.certificate and {**proof.certificate, "sources": dict(sources_of(subject))}
        if proof
        else None,
        places=tuple(topology.channel_name(c) for c in range(len(rows))),
    )
