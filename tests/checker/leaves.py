"""Claims of every kind, and every leaf of one changed, with digests that fit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import obliv
from obliv._util.files import digest_of
from obliv.bufferless import schedule
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_routing

Claim = dict[str, Any]
Trail = tuple[Any, ...]

DROPPED = object()  #: In place of a value: its key is left out.


def _fabric() -> Any:
    """Tables and network as files in the current folder."""
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    write_net(routing.topology.fabric, Path("fabric.net"))
    write_tables(routing.routes.tables, routing.topology.fabric, Path("tables.lfts"))
    return obliv.routing("lft:tables.lfts", obliv.topology("fabric:fabric.net"))


def _routing(spec: str, name: str) -> Any:
    return obliv.routing(name, obliv.topology(spec))


def _schedule(algorithm: str, **options: Any) -> Any:
    network = obliv.topology("random-leveled:L=8,W=3,d=2,seed=3")
    return schedule(obliv.bufferless.instance(network, "random", rng=5), algorithm, rng=1, **options)


def _petersen() -> Any:
    links = (
        [(k, (k + 1) % 5) for k in range(5)]
        + [(k, k + 5) for k in range(5)]
        + [(5 + k, 5 + (k + 2) % 5) for k in range(5)]
    )
    return obliv.ECMP(obliv.build("petersen", 10, links + [(b, a) for a, b in links]))


#: A claim of every kind, of every form that a kind has.
CLAIMS: dict[str, Callable[[], Any]] = {
    "worst": lambda: obliv.worst_case(_routing("mesh:3x2", "romm"), certificate=True),
    "worst inside": lambda: obliv.worst_case(_petersen(), certificate=True),
    "worst rates": lambda: obliv.worst_case(_routing("mesh:3x2,injection=2", "dor"), certificate=True),
    "worst capacity": lambda: obliv.worst_case(
        obliv.ECMP(obliv.with_capacity(obliv.topology("random-regular:n=6,d=3,seed=1"))), certificate=True
    ),
    "channels": lambda: obliv.worst_channels(_routing("mesh:3x2", "romm"), certificate=True),
    "fabric worst": lambda: obliv.fabric.worst(_fabric(), hottest=3, certificate=True),
    "ratio": lambda: obliv.ratio(_routing("fattree:4,2", "dmodk"), certificate=True),
    "ratio bound": lambda: obliv.ratio(_routing("fattree:4,3", "smodk"), certificate=True),
    "network ratio": lambda: obliv.ratio(_routing("ring:5", "dor"), certificate=True),
    "traffic ratio": lambda: obliv.traffic_ratio(_routing("ring:5", "dor"), "tornado", "uniform", certificate=True),
    "adaptive ratio": lambda: obliv.traffic_ratio(
        _routing("ring:5", "valiant"), "shift:2", adaptive=True, certificate=True
    ),
    "bounds": lambda: obliv.bounds("mesh:2x2"),
    "bounds design": lambda: obliv.bounds("ring:5"),
    "bounds phases": lambda: obliv.bounds("torus:3x3"),
    "design": lambda: obliv.design("mesh:2x2"),
    "design rules": lambda: obliv.design("mesh:3x2", paths=2, quantize=8),
    "design minimal": lambda: obliv.design("mesh:3x2", minimal=True),
    "design ratio": lambda: obliv.design("mesh:2x2", objective="ratio", then="hops"),
    "design average": lambda: obliv.design("mesh:2x2", objective="average", samples=2),
    "throughput": lambda: obliv.throughput(_routing("mesh:3x2", "o1turn"), "uniform", "complement", "tornado"),
    "throughput terminal": lambda: obliv.throughput(_routing("hypercube:3", "dor"), "hot-nodes:1", "uniform"),
    "fabric throughput": lambda: obliv.fabric.throughput(_fabric(), "shift:1", "uniform"),
    "average": lambda: obliv.average_case(_routing("torus:3x2", "valiant"), exact=True),
    "average idle": lambda: obliv.average_case(_routing("mesh:2x2", "dor"), exact=True),
    "deadlock": lambda: obliv.deadlock(_routing("mesh:3x3", "romm"), "turn", certificate=True),
    "deadlock dateline": lambda: obliv.deadlock(_routing("torus:3x3", "dor"), "dateline", certificate=True),
    "deadlock cycle": lambda: obliv.deadlock(_routing("mesh:2x2", "o1turn"), "none", certificate=True),
    "pareto": lambda: obliv.pareto("mesh:3x2", 2, certificate=True),
    "fabric failures": lambda: obliv.fabric.failures(_fabric(), certificate=True),
    "fabric refill": lambda: obliv.fabric.failures(_fabric(), of="switches", repair="refill", certificate=True),
    "fabric engine": lambda: obliv.fabric.failures(_fabric(), repair="updown", certificate=True),
    "failures": lambda: obliv.failures(_routing("mesh:2x2", "ecmp"), certificate=True),
    "collisions": lambda: obliv.collisions("fattree:4,2", "shift:2", flows=2, samples=50, guarantee=["3/2@0.01"]),
    "collisions bounds": lambda: obliv.collisions("fattree:4,3", "random-permutation", flows=2),
    "schedule centralized": lambda: _schedule("centralized", lam=10, s=2),
    "schedule distributed": lambda: _schedule("distributed", constants="tuned"),
    "schedule direct": lambda: _schedule("direct"),
    "schedule hot-potato": lambda: _schedule("hot-potato", priority="closest"),
    "schedule fifo": lambda: _schedule("fifo"),
    "schedule random-delay": lambda: _schedule("random-delay"),
    "schedule random-rank": lambda: _schedule("random-rank"),
    "schedule farthest-to-go": lambda: _schedule("farthest-to-go"),
    "schedule classes": lambda: obliv.bufferless.schedules(obliv.bufferless.instances("mesh:3x3", rng=1), "direct"),
}


def content_of(result: Any) -> Claim:
    """A claim as a file holds it."""
    result.save("claim.json")
    read: Claim = json.loads(Path("claim.json").read_text())
    return read


def leaves(value: Any, trail: Trail = ()) -> Iterator[Trail]:
    """Yield where the numbers, strings, truths and nulls of a claim stand; an exact number, or bounds, as one."""
    if isinstance(value, dict):
        if _is_number(value):
            yield trail
            if "lower" in value:
                return  # its ends alone may be widened
        for key, inner in value.items():
            yield from leaves(inner, (*trail, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*trail, place))
    else:
        yield trail


def _is_number(value: Any) -> bool:
    return isinstance(value, dict) and set(value) in (
        {"exact", "value"},
        {"lower", "upper"},
        {"value", "stderr", "samples"},
    )


def changes(value: Any) -> Iterator[Any]:
    """Yield other values of the same kind; of bounds, those that claim what is not so."""
    if isinstance(value, dict) and "exact" in value:
        number = Fraction(value["exact"])
        for other in (number + 1, number + Fraction(1, 10**6), number / 2 or -1):
            yield {"exact": str(other), "value": other.numerator / other.denominator}
    elif isinstance(value, dict) and "lower" in value:
        low, high = value["lower"], value["upper"]
        yield {"lower": high + 1, "upper": high + 2}
        yield {"lower": low / 4, "upper": low / 2}
    elif isinstance(value, dict):
        yield value | {"value": value["value"] * 1.5 + 1}
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        yield value - 1
    elif isinstance(value, float):
        yield value * 1.5 + 1
    elif isinstance(value, str):
        yield value + "x"
        if value.lstrip("-").isdigit():
            yield str(int(value) + 1)
    elif value is None:
        yield from (1, "x", {"exact": "1", "value": 1.0})


def changed(content: Claim, trail: Trail, value: Any) -> Claim:
    """A claim with another value in one place, and digests that fit."""
    claim: Claim = json.loads(json.dumps(content))
    inner: Any = claim
    for key in trail[:-1]:
        inner = inner[key]
    if value is DROPPED:
        del inner[trail[-1]]
    else:
        inner[trail[-1]] = value
    fit(claim)
    return claim


def shapes(content: Claim, few: int) -> Iterator[tuple[Trail, Claim]]:
    """Yield a claim with a list emptied or doubled, a key dropped or another one added; few places of each name."""
    tried: Counter[str] = Counter()
    for trail in nodes(content):
        name = "".join("[*]" if isinstance(key, int) else f".{key}" for key in trail)
        tried[name] += 1
        value = at(content, trail)
        if tried[name] > few:
            continue
        if isinstance(value, list) and value:
            yield trail, changed(content, trail, [])
            yield trail, changed(content, trail, value * 2)
        if isinstance(value, dict) and not _is_number(value):
            yield (*trail, "best"), changed(content, (*trail, "best"), {"exact": "7", "value": 7.0})
        if trail and isinstance(trail[-1], str):
            yield trail, changed(content, trail, DROPPED)


def nodes(value: Any, trail: Trail = ()) -> Iterator[Trail]:
    """Yield where everything of a claim stands, objects and lists too; a number as one."""
    yield trail
    for key, inner in value.items() if isinstance(value, dict) and not _is_number(value) else ():
        yield from nodes(inner, (*trail, key))
    for place, inner in enumerate(value) if isinstance(value, list) else ():
        yield from nodes(inner, (*trail, place))


def fit(value: Any) -> None:
    """Compute the digests again, from the inside out."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        fit(inner)
    certificate = value.get("certificate") if isinstance(value, dict) else None
    if isinstance(certificate, dict) and "digest" in certificate:
        certificate["digest"] = digest_of(value)


def at(content: Any, trail: Trail) -> Any:
    for key in trail:
        content = content[key]
    return content
