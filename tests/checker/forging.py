"""A program that forges claims: it makes a valid claim false, and fits the rest to the lie.

Every forgery contains at least one statement that is known to be false: a load, ratio, makespan or bound that differs
from the one of the valid claim, or a network or routing whose own load is known to be another. The proof is then bent
as well: other witnesses that do load the named channel as claimed, scaled or raised prices, other words, arrays in
their other form, nested brackets, and values of the wrong kind. Digests are computed again at the end.
"""

from __future__ import annotations

import copy
import json
import random
import time
import tracemalloc
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from zlib import compress

import numpy as np
from scipy.optimize import linear_sum_assignment
from tests.bufferless.plain import ONE_EACH, opened

import obliv
from obliv._util.files import digest_of, pack, unpack, write_json
from obliv.bufferless import schedule
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_routing

WORST = {
    "mesh:3x3": "dor romm valiant o1turn u2turn ival ecmp updown",
    "mesh:4x3": "dor romm",
    "torus:3x3": "dor romm valiant ival 1/3*dor+2/3*valiant",
    "torus:4x2": "dor romm ecmp",
    "torus:17x17": "dor",
    "ring:5": "dor valiant",
    "hypercube:3": "dor ecmp",
    "random-regular:n=8,d=3,seed=1": "shortest ecmp updown electrical raecke:trees=3",
    "fattree:4,2": "ecmp dmodk",
}
RATIO = {"fattree:4,2": "osrm2 dmodk omrmn", "fattree:4,3": "omrmn smodk", "fattree:16,2": "dmodk"}
NETWORK = {"mesh:3x2": "dor valiant", "ring:5": "valiant ecmp"}
TRAFFIC = {"ring:5": "dor valiant", "mesh:3x2": "ecmp"}
FABRIC = {"fattree:4,2": "dmodk", "torus:3x3": "dor", "fattree:8,2": "dmodk"}
DESIGNS: list[tuple[str, dict[str, Any]]] = [
    ("mesh:3x2", {}),
    ("torus:3x3", {}),
    ("mesh:3x3", {"minimal": True}),
    ("mesh:3x2", {"max_hops": Fraction(3, 2)}),
    ("mesh:3x2", {"exact": False}),
    ("ring:4", {"objective": "ratio"}),
    ("mesh:3x3", {"max_turns": 1}),
    ("ring:5", {"vc": 2}),
    ("mesh:3x2", {"paths": 2, "quantize": 8}),
]
KINDS = ("worst", "ratio", "network", "traffic", "fabric", "schedule", "design", "bounds")
BOUNDS = ("mesh:3x2", "mesh:3x3", "ring:5", "torus:3x3")  # by U2TURN, a design, two passes of uniform traffic
#: What a claim says; bending the proof leaves these keys as they are.
STATEMENT = {"kind", "topology", "routing", "channel_load", "ratio", "throughput", "capacity", "fraction_of_capacity"}
STATEMENT |= {"makespan", "packets", "congestion", "dilation", "lower_bound", "deflections", "hops", "hops_bound"}
STATEMENT |= {"oblivious", "adaptive", "bisection", "price", "gap", "objective", "patterns"}
STATEMENT |= {"constraints", "paths_per_pair", "most_paths", "rules", "algorithm", "skipped", "loss"}
JUNK: list[Any] = [None, True, -1, 0, 1, 2**31, 2**63, 10**40, -(10**30), 1.5, "x", "", [], [[]], {}, [0], [None]]
JUNK += ["9" * 5000, {"b64zlib": "", "dtype": "int64", "shape": [0]}, {"exact": "1/0", "value": 1.0}, float("inf")]

Claim = dict[str, Any]
Change = Callable[[Claim, random.Random], None]


@dataclass
class Honest:
    """A valid claim, and what bending needs: the weights of all channels, channel by channel."""

    kind: str
    content: Claim
    weights: list[Any] = field(default_factory=list)
    peak: int = 0  #: Bytes that its check takes.


def plain(result: Any) -> Claim:
    content: Claim = json.loads(json.dumps(result.to_dict()))
    return content


def exact(value: Fraction) -> Claim:
    return {"exact": str(value), "value": value.numerator / value.denominator}


def weights_of(routing: Any, without_self: bool) -> list[Any]:
    """Pair loads of every channel over its bandwidth, from the paths alone."""
    topology = routing.topology
    terminals = topology.terminals.tolist()
    tables = [np.zeros((len(terminals), len(terminals)), object) for _ in range(topology.channels)]
    for i, s in enumerate(terminals):
        for j, d in enumerate(terminals):
            for path, chance in () if without_self and i == j else routing.paths(s, d):
                for c in path:
                    tables[c][i, j] += Fraction(chance) / topology.bandwidth_of(c)
    return tables


def honest_claims(folder: Path, kinds: tuple[str, ...] = KINDS, step: int = 1) -> Iterator[Honest]:
    """One in `step` valid claims of every kind; the files behind them are in the folder, the current one."""
    for spec, word in _each(WORST, step) if "worst" in kinds else ():
        routing = obliv.routing(word, obliv.topology(spec))
        small = routing.topology.nodes < 50
        content = plain(obliv.worst_case(routing, certificate=True))
        yield Honest("worst", content, weights_of(routing, False) if small else [])
    for spec, word in _each(RATIO, step) if "ratio" in kinds else ():
        routing = obliv.routing(word, obliv.topology(spec))
        small = routing.topology.nodes < 50
        yield Honest("ratio", plain(obliv.ratio(routing, certificate=True)), weights_of(routing, True) if small else [])
    for spec, word in _each(NETWORK, step) if "network" in kinds else ():
        yield Honest("network", plain(obliv.ratio(obliv.routing(word, obliv.topology(spec)), certificate=True)))
    for spec, word in _each(TRAFFIC, step) if "traffic" in kinds else ():
        routing = obliv.routing(word, obliv.topology(spec))
        adaptive = word == "valiant"
        found = obliv.traffic_ratio(routing, "shift:2", "complement", adaptive=adaptive, certificate=True)
        yield Honest("traffic", plain(found))
    for spec, word in _each(FABRIC, step) if "fabric" in kinds else ():
        routing = from_routing(obliv.routing(word, obliv.topology(spec)))
        name = spec.replace(":", "-").replace(",", "-")
        write_net(routing.topology.fabric, folder / f"{name}.net")
        write_tables(routing.routes.tables, routing.topology.fabric, folder / f"{name}.lfts")
        read = obliv.routing(f"lft:{name}.lfts", obliv.topology(f"fabric:{name}.net"))
        yield Honest("fabric", plain(obliv.worst_case(read, certificate=True)), weights_of(read, False))
    if "schedule" in kinds:
        network = obliv.topology("random-leveled:L=8,W=3,d=2,seed=3")
        case = obliv.bufferless.instance(network, "random", rng=5)
        for algorithm, options in ONE_EACH:
            yield Honest("schedule", opened(schedule(case, algorithm, rng=1, **options)))
    for spec, options in DESIGNS[::step] if "design" in kinds else ():
        yield Honest("design", plain(obliv.design(spec, **options)))
    for spec in BOUNDS[::step] if "bounds" in kinds else ():
        yield Honest("bounds", plain(obliv.bounds(spec)))


def _each(table: dict[str, str], step: int) -> list[tuple[str, str]]:
    return [(spec, word) for spec, words in table.items() for word in words.split()][::step]


# Statements that are false.


def load_of(content: Claim) -> Fraction:
    load = content["ratio" if content["kind"] == "ratio" else "channel_load"]
    return Fraction(load["exact"])


def set_load(content: Claim, load: Fraction) -> None:
    """Claim another load, with the figures that follow from it."""
    if content["kind"] == "ratio":
        content["ratio"] = exact(load)
        return
    content["channel_load"] = exact(load)
    content["throughput"] = exact(1 / load)
    if content["capacity"] is not None:
        content["fraction_of_capacity"] = exact(1 / load / Fraction(content["capacity"]["exact"]))


def another_load(claim: Honest, content: Claim, rng: random.Random) -> None:
    factors = [Fraction(1, 2), Fraction(99, 100), Fraction(10**9 - 1, 10**9), Fraction(101, 100), Fraction(2)]
    set_load(content, load_of(content) * rng.choice(factors))


def a_lighter_channel(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Claim the load of a channel that carries less, with the traffic that loads it most."""
    if not claim.weights:
        return another_load(claim, content, rng)
    topology = obliv.topology(content["topology"])
    for channel in rng.sample(range(topology.channels), topology.channels):
        weights = claim.weights[channel]
        scale = float(max(1, weights.max()))
        rows, columns = linear_sum_assignment(-(weights / scale).astype(float))
        load = sum((Fraction(weights[i, j]) for i, j in zip(rows, columns, strict=True)), Fraction(0))
        if 0 < load < load_of(content):
            set_load(content, load)
            content["permutation"] = content["certificate"]["permutation"] = columns.tolist()
            tail, head = int(topology.tail[channel]), int(topology.head[channel])
            content["channel"] = {"id": channel, "tail": tail, "head": head}
            return None
    return another_load(claim, content, rng)


def another_traffic(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Claim what a random permutation puts on the worst channel, if that is less."""
    image = list(range(len(content["permutation"])))
    rng.shuffle(image)
    channel = content["channel"]["id"]
    load = (
        sum((Fraction(claim.weights[channel][i, j]) for i, j in enumerate(image)), Fraction(0)) if claim.weights else 0
    )
    if not 0 < load < load_of(content):
        return another_load(claim, content, rng)
    set_load(content, Fraction(load))
    content["permutation"] = content["certificate"]["permutation"] = image
    return None


def another_figure(claim: Honest, content: Claim, rng: random.Random) -> None:
    keys = ("lower_bound",) if content["kind"] == "ratio" else ("throughput", "capacity", "fraction_of_capacity")
    keys = tuple(key for key in keys if content.get(key))
    if not keys:
        return another_load(claim, content, rng)
    key = rng.choice(keys)
    content[key] = exact(
        Fraction(content[key]["exact"]) * rng.choice([Fraction(1, 2), Fraction(3, 2), Fraction(1001, 1000)])
    )
    return None


def another_subject(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Claim the load for a routing or network whose own is another, as far as it is known."""
    key = (content["topology"], content["routing"])
    others = [
        other
        for other in KNOWN
        if other != key and (other[0] == key[0] or other[1] == key[1]) and KNOWN[other] != load_of(content)
    ]
    if not others or content["kind"] == "ratio":
        return another_load(claim, content, rng)
    content["topology"], content["routing"] = rng.choice(others)
    return None


def another_schedule(claim: Honest, content: Claim, rng: random.Random) -> None:
    keys = [key for key in ("makespan", "packets", "congestion", "dilation", "lower_bound") if key in content]
    key = rng.choice(keys)
    content[key] += rng.choice([-1, 1, -content[key], 1000])


def fewer_moves(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Leave out the last moves, and claim the makespan of the others."""
    moves = content.get("moves")
    if not isinstance(moves, list) or not moves:
        return another_schedule(claim, content, rng)
    last = max(row[0] for row in moves)
    content["moves"] = [row for row in moves if row[0] < last]
    content["makespan"] = last - 1
    return None


def two_on_a_link(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Let a packet with the path of another follow it at the same times."""
    moves = content.get("moves")
    paths = content["instance"]["paths"]
    if not isinstance(moves, list) or not isinstance(paths, list) or not all(isinstance(path, list) for path in paths):
        return another_schedule(claim, content, rng)
    packet = rng.randrange(len(paths))
    for key in ("paths", "sources", "destinations"):
        content["instance"][key].append(content["instance"][key][packet])
    content["moves"] += [[row[0], len(paths) - 1, *row[2:]] for row in moves if row[1] == packet]
    content["packets"] += 1
    users = Counter(e for path in paths for e in path)
    content["congestion"] = max(users.values())
    return None


def another_result(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Change a figure that follows from others."""
    keys = ("throughput", "fraction_of_capacity", "gap", "price", "capacity", "most_paths")
    key = rng.choice([key for key in keys if content.get(key) is not None])
    value, factor = content[key], rng.choice([Fraction(1, 2), Fraction(1001, 1000), Fraction(2)])
    if isinstance(value, int):
        content[key] = value + 1
    elif "exact" in value:
        content[key] = exact(Fraction(value["exact"]) * factor or Fraction(1, 9))
    else:
        content[key] = {side: float(number * factor) or 0.5 for side, number in value.items()}


def another_bound(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Raise a lower bound, or lower an upper one."""
    key = rng.choice([key for key in ("capacity", "oblivious", "adaptive", "bisection") if content.get(key)])
    value = content[key]
    if "exact" in value:
        content[key] = exact(
            Fraction(value["exact"]) * rng.choice([Fraction(1, 2), Fraction(999, 1000), Fraction(1001, 1000)])
        )
    else:
        low = rng.random() < 0.5
        content[key] = (
            {"lower": value["upper"] * 1.01, "upper": value["upper"] * 1.02}
            if low
            else {"lower": value["lower"] * 0.8, "upper": value["lower"] * 0.99}
        )
    price = content.get("price")
    if price and rng.random() < 0.5:
        content["price"] = {"lower": 1.0, "upper": 1.0}


def another_design(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Claim a higher bound, a lower load, fewer hops or a higher bound of the hops."""
    load, factor = content["channel_load"], rng.choice([Fraction(1, 2), Fraction(99, 100), Fraction(10**6 - 1, 10**6)])
    if content["objective"] == "ratio" and rng.random() < 0.7:
        content["ratio"] = exact(Fraction(content["ratio"]["exact"]) * rng.choice([factor, 1 / factor]))
        return
    choice = rng.randrange(5)
    inner = content["certificate"]["worst"]
    if choice == 0 and "exact" in load:  # of the routing and of the optimum
        set_load(content, Fraction(load["exact"]) * factor)
        if rng.random() < 0.7:
            set_load(inner, load_of(content))
    elif choice == 1 and "exact" in load:  # a routing that is worse is the best
        set_load(content, Fraction(load["exact"]) / factor)
        set_load(inner, load_of(content))
    elif choice == 2 and "upper" in load:
        side = rng.choice(["upper", "lower"])
        low = side == "upper"
        content["channel_load"] = load | {side: load["lower"] * 0.99 if low else load["upper"] * 1.01}
    elif choice == 3:
        content["hops"] = exact(Fraction(content["hops"]["exact"]) * factor)
        if content.get("hops_bound"):
            content["hops_bound"] = content["hops"]
    elif content.get("hops_bound") and "exact" in content["hops_bound"]:
        content["hops_bound"] = exact(Fraction(content["hops"]["exact"]) / factor)
    else:
        content["paths_per_pair"] = exact(Fraction(content["paths_per_pair"]["exact"]) * factor)


def another_pattern(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Change a load or the ratio of a traffic, with the figures that follow from it or without."""
    row = rng.choice(content["patterns"])
    key = rng.choice(["ratio", "channel_load", "optimal_load"])
    row[key] = exact(Fraction(row[key]["exact"]) * rng.choice([Fraction(1, 2), Fraction(999, 1000), Fraction(2)]))
    if rng.random() < 0.5:
        loads = (Fraction(row[name]["exact"]) for name in ("channel_load", "optimal_load"))
        row["ratio"] = exact(next(loads) / next(loads))
    if key == "ratio":
        row["channel_load"] = exact(Fraction(row["ratio"]["exact"]) * Fraction(row["optimal_load"]["exact"]) + 1)
    content["ratio"] = max((row["ratio"] for row in content["patterns"]), key=lambda ratio: Fraction(ratio["exact"]))


def narrow_bounds(claim: Honest, content: Claim, rng: random.Random) -> None:
    """Claim bounds beside the ratio."""
    ratio = float(load_of(content))
    low = rng.random() < 0.5
    content["ratio"] = {"lower": 1.001 * ratio, "upper": 2 * ratio} if low else {"lower": 0.5, "upper": 0.999 * ratio}


FALSE: dict[str, list[Callable[[Honest, Claim, random.Random], None]]] = {
    "worst": [another_load, a_lighter_channel, a_lighter_channel, another_traffic, another_figure, another_subject],
    "ratio": [another_load, a_lighter_channel, another_traffic, another_figure],
    "network": [another_load, narrow_bounds],
    "traffic": [another_pattern],
    "fabric": [another_load, a_lighter_channel, another_traffic, another_figure],
    "schedule": [another_schedule, fewer_moves, two_on_a_link],
    "design": [another_design, another_design, another_result],
    "bounds": [another_bound, another_bound, another_result],
}

#: The loads of networks and routings that valid claims state; see :func:`forge`.
KNOWN: dict[tuple[str, str], Fraction] = {}


# Proofs that are bent.


def proof_of(content: Claim, rng: random.Random) -> Claim:
    """The certificate of a worst case: the claim's own, or the one inside a design."""
    certificate: Claim = content.get("certificate") or {}
    if isinstance(certificate.get("worst"), dict) and rng.random() < 0.7:
        return certificate["worst"]["certificate"]  # type: ignore[no-any-return]
    return certificate


def raise_prices(content: Claim, rng: random.Random) -> None:
    proof = proof_of(content, rng)
    for vector in proof.get("duals", []):
        if isinstance(vector, list) and vector and rng.random() < 0.5:
            place = rng.randrange(len(vector))
            vector[place] = rng.choice([0, 1, -1, 10**6, 2**62, -(2**62)])


def scale_proof(content: Claim, rng: random.Random) -> None:
    """Another denominator, or prices that are multiples."""
    proof = proof_of(content, rng)
    factor = rng.choice([2, 3, 10**12, 2**64])
    if "denominator" in proof and rng.random() < 0.7:
        value = int(proof["denominator"]) * factor
        proof["denominator"] = value if value < 2**63 else str(value)
    if rng.random() < 0.5 and isinstance(proof.get("duals"), list):
        proof["duals"] = [
            [str(x * factor) if x * factor >= 2**63 else x * factor for x in vector]
            if isinstance(vector, list)
            else vector
            for vector in proof["duals"]
        ]


def other_words(content: Claim, rng: random.Random) -> None:
    proof = proof_of(content, rng)
    channels = proof.get("channels")
    if not isinstance(channels, list) or not channels:
        return
    threshold = {"threshold": rng.choice([0, 1, -1, 2**39, 2**70])}
    entries = [
        "simple",
        [0, []],
        threshold,
        rng.choice(channels),
        [0, [0] * rng.randrange(6)],
        [-1, []],
        [0, [-1]],
        [0, [10**9]],
    ]
    for _ in range(rng.choice([1, 2, len(channels)])):
        channels[rng.randrange(len(channels))] = copy.deepcopy(rng.choice(entries))
    if rng.random() < 0.1:
        proof["channels"] = ["simple"] * len(channels)


def other_lengths(content: Claim, rng: random.Random) -> None:
    """Other lengths or another price in the lines of a design."""
    line = content.get("certificate", {}).get(rng.choice(["load_line", "hops_line"]))
    if not isinstance(line, dict):
        return
    if rng.random() < 0.4:
        line["price"] = rng.choice([0, 1, 2**40, 2**61, -1])
    for k, rows in enumerate(line["lengths"]):
        table = unpack(rows)
        if not table or not isinstance(table[0], list):
            continue
        row = rng.choice(table)
        row[rng.randrange(3)] = rng.choice([0, 1, 2, 2**40, 2**62, -1])
        line["lengths"][k] = table


def other_form(content: Claim, rng: random.Random) -> None:
    """Arrays as lists where they are packed, and packed where they are lists."""
    proof = proof_of(content, rng)
    for holder in (proof, content, content.get("instance", {}), content.get("paths", {})):
        if not isinstance(holder, dict):
            continue
        for key in ("permutation", "duals", "per_pair", "hops", "amounts", "moves", "edges", "levels", "sources"):
            value = holder.get(key)
            if isinstance(value, dict) and "b64zlib" in value:
                holder[key] = unpack(value)
            elif isinstance(value, list) and value and rng.random() < 0.5:
                try:
                    table = np.array(value, np.int64)
                except (ValueError, OverflowError, TypeError):
                    continue
                data = b64encode(compress(table.tobytes())).decode()
                holder[key] = {"b64zlib": data, "dtype": "int64", "shape": list(table.shape)}


def places(node: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Some places of a claim where values stand, without what it states."""
    if trail:
        yield trail
    if len(trail) > 30:  # brackets that were nested by another change
        return
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in list(keys)[:40]:
        if trail or key not in STATEMENT:
            yield from places(node[key], (*trail, key))


def junk(content: Claim, rng: random.Random) -> None:
    """A value of another kind, one that is missing, or brackets within brackets."""
    trail = rng.choice(list(places(content)))
    inner: Any = content
    for key in trail[:-1]:
        inner = inner[key]
    if rng.random() < 0.2:
        del inner[trail[-1]]
    elif rng.random() < 0.2:
        nested: Any = 0
        for _ in range(rng.choice([10, 300, 330, 480, 900])):
            nested = [nested] if rng.random() < 0.5 else {"a": nested}
        inner[trail[-1]] = nested
    else:
        inner[trail[-1]] = copy.deepcopy(rng.choice(JUNK))


def inflated(content: Claim, rng: random.Random) -> None:
    """An array of very many zeros in few bytes."""
    holders = [content, content.get("certificate"), content.get("instance"), content.get("paths")]
    if content.get("kind") == "bufferless":  # nothing else tells how many packets there are
        return
    arrays = [
        (holder, key)
        for holder in holders
        if isinstance(holder, dict)
        for key, value in holder.items()
        if key not in STATEMENT and (isinstance(value, list) or (isinstance(value, dict) and "b64zlib" in value))
    ]
    if arrays:
        holder, key = rng.choice(arrays)
        holder[key] = copy.deepcopy(ZEROS)


ZEROS = pack(np.zeros(3_000_000, np.int64))
#: What bending a proof that is bent out of shape already may raise.
UNBENDABLE = (TypeError, ValueError, KeyError, IndexError, AttributeError, MemoryError, OverflowError)
BENDS: list[Change] = [raise_prices, scale_proof, other_words, other_lengths, other_form, junk, junk]


def forge(claim: Honest, rng: random.Random, bomb: bool = False) -> Claim:
    """A false claim made from a valid one."""
    content = copy.deepcopy(claim.content)
    rng.choice(FALSE[claim.kind])(claim, content, rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
        with suppress(
            TypeError, ValueError, KeyError, IndexError, AttributeError, MemoryError, OverflowError
        ):  # bent beyond bending already
            rng.choice(BENDS)(content, rng)
    if bomb:
        inflated(content, rng)
    certificate = content.get("certificate")
    for holder in (certificate.get("worst") if isinstance(certificate, dict) else None, content):
        if isinstance(holder, dict) and isinstance(holder.get("certificate"), dict):
            with suppress(RecursionError, ValueError):
                holder["certificate"]["digest"] = digest_of(holder)
    return content


@dataclass
class Figures:
    """What came of forgeries."""

    forged: int = 0
    refused: int = 0  #: For their form, with a message of one line.
    proved: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    large: list[str] = field(default_factory=list)
    longest: float = 0.0
    most: float = 0.0  #: Memory over that of the valid claim.


def beyond_64_bits(content: Claim) -> bool:
    """Whether the proof of a claim is over a denominator that makes all its numbers Python integers."""
    holder: Any = content.get("certificate")
    inner = holder.get("worst") if isinstance(holder, dict) else None
    proofs = (holder, inner.get("certificate") if isinstance(inner, dict) else None)
    return any(isinstance(proof, dict) and isinstance(proof.get("denominator"), str) for proof in proofs)


def peak_of(action: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        action()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def attack(claims: list[Honest], count: int, seed: int, folder: Path, measured: float = 0.05) -> Figures:
    """Forge and check claims; the share `measured` is watched for its memory too, and contains bombs."""
    rng = random.Random(seed)
    figures = Figures()
    KNOWN.update(
        {(c.content["topology"], c.content["routing"]): load_of(c.content) for c in claims if c.kind == "worst"}
    )
    for claim in claims:
        path = folder / "valid.json"
        write_json(claim.content, path)
        assert obliv.verify(path).proved, (claim.kind, claim.content["topology"], obliv.verify(path))
        claim.peak = peak_of(lambda path=path: obliv.verify(path))  # type: ignore[misc]
    for number in range(count):
        claim = rng.choice(claims)
        state = f"seed {seed}, forgery {number}: {claim.kind} {claim.content['topology']} {claim.content['routing']}"
        watched = rng.random() < measured
        try:
            content = forge(claim, rng, bomb=watched and rng.random() < 0.3)
        except RecursionError:  # a bomb was to be copied
            continue
        path = folder / ("forged.json" if rng.random() < 0.8 else "forged.json.gz")
        try:
            write_json(content, path)
        except (ValueError, RecursionError):  # nested too deeply to be written
            continue
        figures.forged += 1

        def check(path: Path = path, state: str = state, quick: bool = rng.random() < 0.2) -> None:
            try:
                if obliv.verify(path, quick=quick).proved:
                    figures.proved.append(state)
            except obliv.OblivError as error:
                figures.refused += 1
                if "\n" in str(error) or "internal" in str(error):
                    figures.crashed.append(f"{state}: {error}")
            except Exception as error:
                figures.crashed.append(f"{state}: {type(error).__name__}: {error}")

        began = time.process_time()
        if watched:
            peak = peak_of(check)
            figures.most = max(figures.most, peak / claim.peak)
            if peak > (4 if beyond_64_bits(content) else 2) * claim.peak + 2**20:
                figures.large.append(f"{state}: {peak >> 10} KiB, valid {claim.peak >> 10} KiB")
        else:
            check()
        seconds = time.process_time() - began
        if watched and seconds > 10:  # counting allocations takes several times as long as the check, without it
            began = time.process_time()
            check()
            seconds = time.process_time() - began
        figures.longest = max(figures.longest, seconds)
        if seconds > 10:
            figures.slow.append(f"{state}: {seconds:.1f} s")
    return figures
