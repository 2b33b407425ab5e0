"""The average over random permutations of the hosts."""

from __future__ import annotations

import time

import numpy as np

from obliv._util.progress import Progress, rising
from obliv._util.rng import Rng, generator, seed_of
from obliv.errors import InputError, Interrupted
from obliv.fabric.analyses.many import BLOCK, largest, mean_of, provenance_of, require_samples
from obliv.fabric.arguments import typed
from obliv.fabric.routes.routing import FabricRouting
from obliv.results import Average
from obliv.results.analysis.average import infinite_but
from obliv.results.numbers import inverse, scaled
from obliv.topologies.checks import require_pairs

__all__ = ["average"]


@typed
def average(
    routing: FabricRouting,
    samples: int = 1000,
    rng: Rng = None,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Average:
    """Estimate the average throughput over random permutations, as :func:`obliv.average_case`, for fabrics of any size.

    Parameters
    ----------
    routing : FabricRouting
        Of hosts with equal links.
    samples : int
        At least 2.
    rng : numpy.random.Generator or int, optional
        Source of the permutations, or its seed; default 0.
    jobs : int, optional
        Threads; default the number of cores.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Average
        Every load is exact, their mean an estimate.

    Raises
    ------
    InputError
        If links of hosts differ in speed.
    Interrupted
        With the result over the permutations finished until then.

    Examples
    --------
    >>> import obliv
    >>> from obliv.fabric.generate.from_topology import from_routing
    >>> average(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), 200).channel_load.samples
    200
    """
    began = time.perf_counter()
    topology = routing.topology
    require_pairs(topology)
    n = len(topology.terminals)
    if not topology.unit_rates:
        raise InputError(f"{topology.spec}: random permutations need hosts with equal links")
    require_samples(samples)
    step = max(1, BLOCK // n)
    random = generator(rng)
    blocks = (
        random.permuted(np.tile(np.arange(n), (min(step, samples - first), 1)), axis=1)
        for first in range(0, samples, step)
    )
    load, unit = largest(routing, blocks, samples, what="permutations", jobs=jobs, progress=rising(progress), keep=2)
    mean = mean_of(load * float(unit))
    through, base = inverse(mean), topology.capacity_load
    idle = bool((load == 0).any())
    result = Average(
        topology.spec,
        routing.spec,
        provenance_of(routing, began, "estimated", seed_of(rng)),
        samples=len(load),
        channel_load=mean,
        throughput=through,
        fraction_of_capacity=None if base is None or through is None else scaled(through, base),
        capacity=None if base is None else 1 / base,
        mean_throughput_reason=infinite_but(None if idle else mean_of(1 / (load * float(unit)))),
        subject=routing,
    )
    if len(load) < samples:
        raise Interrupted(f"after {len(load)} of {samples} samples; draw the others with another seed to go on", result)
    return result
