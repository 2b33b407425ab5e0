"""All that specs name is a value: made with any kind of integers, pickled, and equal to itself; loads too."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import obliv
from obliv import fabric
from obliv._util.rationals import exact
from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES, Registration, Registry

NETWORKS = ("mesh:4x4", "fattree:4,3", "fattree:4,2", "fattree:8,2", "torus:4x4x4", "hypercube:6", "torus:5x5")
OWN = "obliv."
ENTRIES = [
    pytest.param(registry, entry, id=f"{registry.kind}-{entry.name}")
    for registry in (TOPOLOGIES, ROUTINGS, PATTERNS)
    for entry in registry
    if entry.make.__module__.startswith(OWN) and not entry.reads_file
]


def place(registry: Registry[Any], entry: Registration[Any]) -> tuple[Any, ...]:
    """What comes before the spec's arguments: nothing, or the first network that the example fits."""
    if registry is TOPOLOGIES:
        return ()
    for network in map(obliv.topology, NETWORKS):
        try:
            registry.make(entry.example, network)
        except obliv.InputError:
            continue
        return (network,)
    raise AssertionError(f"{entry.example} fits none of {NETWORKS}")


def assert_travels(value: Any) -> None:
    copy = pickle.loads(pickle.dumps(value))
    assert type(copy) is type(value)
    assert copy == value
    assert hash(copy) == hash(value)
    if isinstance(value, obliv.Routing):
        assert_travels(value.pair_loads())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("registry", "entry"), ENTRIES)
def test_any_kind_of_integers_makes_the_same(registry: Registry[Any], entry: Registration[Any]) -> None:
    _, positional, named = registry.parse(entry.example, *place(registry, entry))
    if "seed" in entry.parameters:
        named["seed"] = 3
    value = entry.make(*positional, **named)
    whole = any(type(each) is int for each in (*positional, *named.values()))
    for kind in (np.int64, np.uint8) if whole else ():
        given, options = (
            [kind(each) if type(each) is int else each for each in arguments]
            for arguments in (positional, named.values())
        )
        other = entry.make(*given, **dict(zip(named, options, strict=True)))
        assert other == value
        assert (hash(other), other.spec) == (hash(value), value.spec)
        if isinstance(value, obliv.Routing):
            assert other.pair_loads() == value.pair_loads()
    if not isinstance(value, obliv.Routing):  # those are pickled in routings/test_pickling.py
        assert_travels(value)


def test_what_is_read_from_files(tmp_path: Path) -> None:
    net, lft, links, routes, rates, images = (
        tmp_path / name for name in ("tree.net", "tree.lfts", "links.txt", "routes.txt", "rates.txt", "images.txt")
    )
    tree = obliv.fattree(4, 2)
    cabling = fabric.from_topology(tree)
    fabric.write_net(cabling, net)
    fabric.write_tables(fabric.tables_of(obliv.DModK(tree), cabling), cabling, lft)
    groups = tmp_path / "tree.far"
    fabric.write_groups(fabric.groups_of(cabling), cabling, groups)
    links.write_text("a b\nb c\nc d\n")
    routes.write_text("".join(f"hop {v} {d} {d}\n" for v in range(3) for d in range(3) if v != d))
    rates.write_text("0 1 0\n0 0 1\n1 0 0\n")
    images.write_text("1 2 0\n")
    demands = tmp_path / "demands.txt"
    nodes = " ".join(f"{v} ( {v} 0 )" for v in range(3))
    demands.write_text(f"NODES ( {nodes} ) LINKS ( ) DEMANDS ( d ( 0 1 ) 1 1 UNLIMITED )")
    best = tmp_path / "best.json"
    obliv.design("ring:3").save(best)
    ring, cables = obliv.ring(3), obliv.topology(f"fabric:{net}")
    read = {
        "file": obliv.topology(f"file:{links}"),
        "leveled-file": obliv.topology(f"leveled-file:{links}"),
        "fabric": cables,
        "lft": obliv.routing(f"lft:{lft}", cables),
        "far": obliv.routing(f"far:{groups}", cables),
        "table": obliv.routing(f"table:{routes}", ring),
        "design": obliv.routing(f"design:{best}", ring),
        "matrix": obliv.traffic(f"matrix:{rates}", ring),
        "permutation": obliv.traffic(f"permutation:{images}", ring),
        "flows": obliv.traffic(f"flows:{rates}", ring),
        "demands": obliv.traffic(f"demands:{demands}", ring),
    }
    for value in read.values():
        assert_travels(value)
    assert set(read) == {
        entry.name for registry in (TOPOLOGIES, ROUTINGS, PATTERNS) for entry in registry if entry.reads_file
    }


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(1 / 3), Fraction(1, 3)),
        (np.float32(1 / 3), Fraction(1, 3)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.uint8(200), Fraction(200)),
        (np.int64(2**62), Fraction(2**62)),
        (Decimal("0.3"), Fraction(3, 10)),
        ("2/6", Fraction(1, 3)),
        (np.float32("inf"), None),
        (np.bool_(True), None),
        (True, None),
        ([1], None),
    ],
)
def test_numbers_of_any_kind_are_exact(value: Any, number: Fraction | None) -> None:
    result = exact(value)
    assert result == number
    assert result is None or type(result.numerator) is type(result.denominator) is int  # no overflow later


SEEDED: dict[str, Callable[[int], obliv.Result]] = {
    "average": lambda seed: obliv.average_case(obliv.DOR(obliv.mesh(3, 3)), 5, seed),
    "compare": lambda seed: obliv.compare("mesh:3x3", "dor", samples=5, rng=seed),
    "design": lambda seed: obliv.design("ring:3", objective="average", samples=2, rng=seed),
    "collisions": lambda seed: obliv.collisions("fattree:4,2", "shift:1", samples=5, rng=seed),
    "ratio": lambda seed: obliv.traffic_ratio(
        obliv.DModK(obliv.fattree(4, 2)), "random-permutation", instances=2, rng=seed
    ),
}


@pytest.mark.parametrize("seed", [-(10**5000), 10**4000], ids=["negative", "4001 digits"])
def test_seeds_that_could_not_be_read_again_are_refused(seed: int) -> None:
    with pytest.raises(obliv.InputError, match="at most 4,000 digits"):
        obliv.average_case(obliv.DOR(obliv.mesh(3, 3)), 5, seed)


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("seed", [2**60, 2**63, 2**70])
def test_seeds_of_any_size(name: str, seed: int) -> None:
    result = SEEDED[name](seed)
    assert result == SEEDED[name](seed)
    assert result.provenance.seed == seed


def test_bandwidths_and_rates_from_small_integers() -> None:
    for kind in (np.uint8, np.int64, float, np.float32):
        network = obliv.build("two", 2, [(0, 1), (1, 0)], bandwidth=np.array([200, 150]).astype(kind))
        assert obliv.worst_case(obliv.Shortest(network)).channel_load == Fraction(1, 150)
    assert obliv.matrix(np.full((3, 3), 1 / 3, np.float32)).row_sums == [Fraction(1)] * 3
