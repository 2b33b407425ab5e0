"""The rate at which a simulation saturates at the latest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from obliv.patterns.base import Traffic
from obliv.results.analysis.throughput import Bottleneck, bottleneck
from obliv.results.format import shown
from obliv.results.numbers import inverse, known
from obliv.routings.base import Routing

__all__ = ["Saturation", "saturation"]


@dataclass(frozen=True)
class Saturation:
    """The largest rate that channels and terminals can carry, which no simulator exceeds.

    Parameters
    ----------
    rate : Fraction
        Packets per node and cycle, where every node sends one packet.
    limited_by : Bottleneck
        The channel or terminal that carries no more.
    """

    rate: Fraction
    limited_by: Bottleneck

    def __str__(self) -> str:
        packets = "packet" if self.rate == 1 else "packets"
        return f"at most {shown(self.rate)} {packets} per node and cycle, limited by {self.limited_by}"


def saturation(routing: Routing, traffic: Traffic) -> Saturation | None:
    """Return the ideal throughput of a routing under a traffic, exactly; None where there is no traffic.

    Examples
    --------
    >>> import obliv
    >>> mesh = obliv.mesh(7, 6)
    >>> print(saturation(obliv.DOR(mesh), obliv.traffic("uniform", mesh)))
    at most 7/12 = 0.583333 packets per node and cycle, limited by channel (2,0) -> (3,0)
    """
    topology = routing.topology
    busiest = traffic.busiest_terminal(topology.injection, topology.ejection)
    if busiest is None:
        return None
    under = routing.pair_loads().under(traffic)
    worst = max(range(len(under)), key=under.__getitem__, default=-1)
    through = None if worst < 0 else inverse(under[worst])
    rates = [1 / busiest[0], *([] if through is None else [known(through)])]
    return Saturation(min(rates), bottleneck(topology, worst, through, busiest))
