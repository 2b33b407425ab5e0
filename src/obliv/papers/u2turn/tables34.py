"""Tables III and IV: worst case, average case and patterns on square meshes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import find

import obliv
from obliv.papers.paper import Step, Value
from obliv.papers.u2turn.meshes import ROUTINGS, SPREADING, average, covariances, mean_of_throughputs, worst
from obliv.papers.u2turn.printed import COLUMNS, DEGENERATE, EVEN, MILLION, ODD, SAMPLED
from obliv.papers.verdicts import exactly

__all__ = ["FEW", "PATTERNS", "compute_even", "compute_odd", "drawn", "under_patterns"]

#: The rows of patterns, in their order; DOR-WC sends (x, y) to (k-1-y, k-1-x).
PATTERNS = {
    "Transpose": "transpose",
    "Random": "uniform",
    "DOR-WC": "anti-transpose",
    "Complement": "complement",
    "Nearest-Neighbor": "nearest-neighbor",
}

#: Sizes of an ensemble that is much smaller than the million that the paper names.
FEW = (300, 500)

_PACKETS, _RUNS = 300, 200  # packets of a node to destinations that are drawn, and how often they are drawn


def compute_odd(step: Step) -> dict[str, Value]:
    """Compute Table III."""
    return _tables(list(ODD), step)


def compute_even(step: Step) -> dict[str, Value]:
    """Compute Table IV."""
    return _tables(list(EVEN), step)


def _tables(sizes: list[str], step: Step) -> dict[str, Value]:
    entries: dict[str, Value] = {}
    for at, size in enumerate(sizes):
        columns = {}
        for column, name in enumerate(COLUMNS):
            columns[name] = _column(size, name)
            step((at + (column + 1) / len(COLUMNS)) / len(sizes))
        for row in columns["VAL"]:
            entries |= {f"{size}, {row}, {name}": columns[name][row] for name in COLUMNS}
    return entries


@cache
def under_patterns(size: str, name: str) -> dict[str, Fraction]:
    """Return the exact throughput of a routing under every pattern, as a fraction of capacity."""
    routing: Any = obliv.routing(ROUTINGS[name], obliv.topology(f"mesh:{size}"))
    patterns = obliv.throughput(routing, *PATTERNS.values()).patterns
    return {row: exactly(pattern.fraction_of_capacity) for row, pattern in zip(PATTERNS, patterns, strict=True)}


def _column(size: str, name: str) -> dict[str, Value]:
    mesh = f"mesh:{size}"
    column = {"Worst-case": Value(worst(mesh, ROUTINGS[name])), "Average-case": _averages(mesh, name)}
    column |= {row: Value(value) for row, value in under_patterns(size, name).items()}
    if name == "U2TURN":
        routing = obliv.routing("u2turn:shortcut=no", obliv.topology(mesh))
        without = obliv.throughput(routing, *PATTERNS.values()).patterns
        for (row, value), other in zip(list(column.items())[2:], without, strict=True):
            reading = Value(exactly(other.fraction_of_capacity), undecided=DEGENERATE if row == "Random" else "")
            if reading.value != value.value:
                column[row] = replace(value, readings={"without the short cut": reading})
        random = {f"destinations drawn, {_PACKETS} packets of each node": drawn(size, name)}
        column["Random"] = replace(column["Random"], readings=dict(column["Random"].readings) | random)
    if name == "VAL" and size == "3x3":
        column["Nearest-Neighbor"] = replace(
            column["Nearest-Neighbor"], readings={"XY or YX in both stages": Value(_val_by_o1turn(mesh))}
        )
    return column


def _averages(mesh: str, name: str) -> Value:
    mean = average(mesh, ROUTINGS[name])
    if name == "VAL":
        return Value(mean)
    which = "all 9! permutations" if mesh == "mesh:3x3" else "random permutations"
    spread = float(covariances(mesh).diagonal()[SPREADING.index(ROUTINGS[name])])
    few = FEW[0]
    estimate = obliv.Estimate(float(mean), (spread / few) ** 0.5, few)
    readings = {f"a mean of {few} permutations": Value(estimate, undecided=MILLION)}
    literal = "the mean of throughputs" + (", without the identity" if mesh == "mesh:3x3" else "")
    readings[literal] = Value(mean_of_throughputs(mesh, ROUTINGS[name]))
    return Value(mean, f"The reciprocal of the mean largest load of {which}.", readings=readings)


@cache
def drawn(size: str, name: str) -> Value:
    """Return the throughput of a routing where every node sends packets to destinations that are drawn."""
    topology = obliv.topology(f"mesh:{size}")
    loads = obliv.routing(ROUTINGS[name], topology).pair_loads()
    share = np.array([loads.on_channel(c).toarray().ravel() for c in range(topology.channels)]) / loads.denominator
    rng = np.random.default_rng(topology.nodes)
    even = np.full(topology.nodes, 1 / topology.nodes)
    sent = rng.multinomial(_PACKETS, even, size=(_RUNS, topology.nodes)).reshape(_RUNS, -1) / _PACKETS
    values = float(topology.capacity_load or 0) / (share @ sent.T).max(axis=0)
    spread = float(values.std(ddof=1))
    estimate = obliv.Estimate(float(values.mean()), spread / _RUNS**0.5, _RUNS)
    return Value(estimate, undecided=SAMPLED, print_error=spread)


def _val_by_o1turn(mesh: str) -> Fraction:
    """Return the throughput of VAL under Nearest-Neighbor traffic with XY or YX at random in both stages."""
    topology = obliv.topology(mesh)
    traffic = obliv.traffic("nearest-neighbor", topology)
    loads = obliv.routing("o1turn", topology).pair_loads()
    # a source sends to all middles alike, and all of them send to a destination alike
    ends = [[row + column for column in traffic.column_sums] for row in traffic.row_sums]
    largest = max(
        sum(int(weight) * ends[s][d] for s, d, weight in zip(*find(loads.on_channel(c)), strict=True))
        for c in range(topology.channels)
    )
    return Fraction(topology.capacity_load or 0) * loads.denominator * topology.nodes / Fraction(largest)
