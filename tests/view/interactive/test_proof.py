"""The script of a page proves what the checker proves, and nothing else."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.strategies import NIGHT, make_case
from tests.view.interactive.node import needs_node, verdicts

import obliv
from obliv._util.progress import silent
from obliv.checker.worst_case import check_worst_case
from obliv.results.claims import Claim
from obliv.view.interactive import fragment as drawing
from obliv.view.interactive.fragment import claim_of, network_payload, page_proof
from obliv.view.layout import Layout

pytestmark = needs_node


@pytest.fixture(autouse=True)
def plain_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes in a row: the proof does not depend on where they are, and the search for a good place takes long."""
    monkeypatch.setattr(drawing, "layout_of", lambda network: Layout(np.arange(network.nodes)[:, None] ** [1.0, 2.0]))


SPECS = [
    ("mesh:3x3", "romm"),
    ("torus:4x3", "valiant"),
    ("ring:5", "dor"),
    ("hypercube:3", "ecmp"),
    ("fattree:4,2", "dmodk"),
    ("mesh:3x2", "1/3*dor+2/3*valiant"),
    ("random-regular:n=8,d=3,seed=1", "electrical"),
    ("graph:petersen", "updown"),
]


def generated(count: int) -> Iterator[obliv.Routing]:
    """Routings on generated networks: with parallel links, bandwidths, few terminals, paths with loops, rates."""
    for seed in range(count):
        rng = random.Random(seed)
        kind = rng.choice(["paths", "walks", "hops"])
        case = make_case(
            rng, rng.randint(2, 5), rng.randint(0, 6), kind=kind, unequal=seed % 2 == 0, subset=seed % 3 == 0
        )
        if seed % 4 == 1:
            terminals = len(case.terminals)
            rates = [[Fraction(rng.randint(1, 4), rng.randint(1, 3)) for _ in range(terminals)] for _ in "ab"]
            case.routing.topology = case.topology.with_rates(*rates)
        yield obliv.routing(case.routing, case.routing.topology)


def made(routing: obliv.Routing) -> tuple[dict[str, Any], Claim]:
    result = obliv.worst_case(routing, certificate=True)
    return network_payload(result), claim_of(result)


@pytest.mark.nightly
def test_what_is_true_is_proved() -> None:
    routings = [obliv.routing(routing, obliv.topology(topology)) for topology, routing in SPECS]
    payloads = [made(routing)[0] for routing in (*routings, *generated(200 if NIGHT else 12))]
    for payload, verdict in zip(payloads, verdicts(payloads), strict=True):
        channels = len(payload["channels"])
        assert verdict["holds"], (payload["topology"], verdict)
        assert (verdict["proved"], verdict["channels"], verdict["failed"]) == (channels, channels, [])
        assert verdict["text"] == f"{channels} of {channels} channels proved in this page"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("routing", ["dmodk", "osrm2"])
def test_ratios_on_fat_trees_are_proved(routing: str) -> None:
    found = obliv.ratio(obliv.routing(routing, obliv.fattree(4, 2)), certificate=True)
    payload = network_payload(found)
    lowered = copy.deepcopy(payload)
    lowered["proof"]["claim"] = lowered["worst"]["load"] = str(found.lower * Fraction(99, 100))
    assert payload["proof"]["claim"] == str(found.lower)
    assert [verdict["holds"] for verdict in verdicts([payload, lowered])] == [True, False]


def test_designs_that_were_saved_are_proved(tmp_path: Path) -> None:
    obliv.design("mesh:3x2").save(tmp_path / "design.json")
    (verdict,) = verdicts([network_payload(obliv.load(tmp_path / "design.json"))])
    assert verdict["holds"]


@pytest.mark.nightly
def test_pairs_without_a_path_are_counted() -> None:
    tree = obliv.fattree(4, 2)
    cluster = obliv.fabric.from_topology(tree)
    tables = obliv.fabric.tables_of(obliv.DModK(tree), cluster)
    entries = tables.out.copy()
    entries[0, int(cluster.ports.lid[cluster.endpoints[7]])] = 255  # no way from the first switch to the last host
    routing = obliv.fabric.routing(obliv.fabric.network(cluster), replace(tables, out=entries), missing="skip")
    payload = network_payload(obliv.fabric.worst(routing, certificate=True))
    fewer = copy.deepcopy(payload)
    fewer["proof"]["skipped"] -= 1
    assert payload["proof"]["skipped"] > 0
    assert [verdict["holds"] for verdict in verdicts([payload, fewer])] == [True, False]


def changed(claim: Claim, rng: random.Random) -> Claim:
    """A claim with another load, witness, prices, words or generators; many of them still hold."""
    duals, words = copy.deepcopy(claim.duals), copy.deepcopy(claim.channels)
    choice = rng.randrange(6)
    if choice == 0:
        load = claim.channel_load * rng.choice([Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), Fraction(1)])
        return replace(claim, channel_load=load, throughput=1 / load)
    if choice == 1 and claim.permutation is not None:
        image = list(claim.permutation)
        i, j = rng.randrange(len(image)), rng.randrange(len(image))
        image[i], image[j] = image[j], image[i] if rng.random() < 0.8 else image[j]
        return replace(claim, permutation=image)
    if choice == 1 and claim.traffic:
        rows = list(claim.traffic)
        k = rng.randrange(len(rows))
        rows[k] = (rows[k][0], rows[k][1], rows[k][2] * rng.choice([Fraction(1, 2), Fraction(2)]))
        return replace(claim, traffic=rows)
    if choice in (2, 3) and duals:
        prices = rng.choice(duals)
        prices[rng.randrange(len(prices))] += rng.choice([-1, 1, 1, -claim.denominator, claim.denominator, 2**70])
        return replace(claim, duals=duals)
    if choice == 4:
        entries: list[Any] = ["simple", *words, *([k, []] for k in range(len(duals)))]
        entries += [[k, [rng.randrange(len(claim.generators))]] for k in range(len(duals)) if claim.generators]
        for _ in range(rng.choice([1, 3])):
            words[rng.randrange(len(words))] = copy.deepcopy(rng.choice(entries))
        return replace(claim, channels=words)
    generators = copy.deepcopy(claim.generators)
    if generators:
        image = rng.choice(generators)
        i, j = rng.randrange(len(image)), rng.randrange(len(image))
        image[i], image[j] = image[j], image[i]
    return replace(claim, generators=generators)


@pytest.mark.nightly
def test_the_script_agrees_with_the_checker() -> None:
    rng = random.Random(5)
    payloads, proved = [], []
    routings = [obliv.routing(routing, obliv.topology(topology)) for topology, routing in SPECS[:: 1 if NIGHT else 2]]
    for routing in (*routings, *generated(100 if NIGHT else 4)):
        payload, claim = made(routing)
        for _ in range(60 if NIGHT else 10):
            other = changed(claim, rng)
            base, through = routing.topology.capacity_load, other.throughput
            fraction = None if base is None or through is None else base * through
            other = replace(other, digest_holds=True, fraction_of_capacity=fraction)
            proved.append(check_worst_case(other, routing.topology, routing, False, 60.0, silent).proved)
            page = copy.deepcopy(payload)
            page["proof"] = page_proof(other, routing)
            page["worst"] |= {key: page["proof"][key] for key in ("permutation", "traffic")}
            page["worst"]["load"] = page["proof"]["claim"]
            page["views"] = []  # what is shown under the witness changes with it
            payloads.append(page)
    found = verdicts(payloads)
    assert [verdict["holds"] for verdict in found] == proved
    assert 0.1 < sum(proved) / len(proved) < 0.9  # both answers occur


#: What stands beside the proof: places, names and words.
_WORDS = {"x", "y", "name", "short", "label", "lines", "radius", "topology", "routing", "text", "pairs", "value"}


def leaves(part: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values of a payload that the script must check."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    if not isinstance(part, dict | list):
        yield trail
    for key, inner in items:
        if not (isinstance(key, str) and key in _WORDS and trail[:1] != ("own",)):
            yield from leaves(inner, (*trail, key))


def forged(value: Any) -> list[Any]:
    """Other values of one kind: numbers nearby, fractions that are a little larger or smaller, other text."""
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, str) and value.replace("/", "").isdigit():
        other = [Fraction(value) * share for share in (Fraction(99, 100), Fraction(101, 100))]
        return [*map(str, other)] if any(other) else ["1", "1/100"]
    if isinstance(value, str) and len(value) > 8:
        return [value[:4] + ("B" if value[4] != "B" else "C") + value[5:], value[:-4]]
    return [] if value is None else [f"{value}x"]


def test_every_changed_number_is_refused() -> None:
    payload, _ = made(obliv.DOR(obliv.mesh(3, 2).with_rates(injection=[1, 1, 1, 1, 1, "1/2"])))
    forgeries, names = [], []
    for trail in leaves(payload):
        if trail[:1] == ("nodes",) and trail[1] > 0:
            continue
        if trail[:2] in (("proof", "duals"), ("proof", "generators"), ("proof", "channels")):
            continue  # other prices may prove the claim, too: see above
        if trail[0] in ("injection", "ejection"):
            continue  # the same load may be the worst of other rates
        inner: Any = payload
        for key in trail[:-1]:
            inner = inner[key]
        for value in forged(inner[trail[-1]]):
            forgery = copy.deepcopy(payload)
            place: Any = forgery
            for key in trail[:-1]:
                place = place[key]
            place[trail[-1]] = value
            forgeries.append(forgery)
            names.append((trail, value))
    proved = [name for name, verdict in zip(names, verdicts(forgeries), strict=True) if verdict["holds"]]
    assert not proved, "\n".join(map(str, proved))
    assert len(names) > 100


LIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a lowered claim": lambda page: (
        page["proof"].update(claim="19/10"),
        page["worst"].update(load="19/10"),
    ),
    "a price that is too low": lambda page: page["proof"]["duals"].__setitem__(0, [0] * 9),
    "a wrong witness": lambda page: (
        page["proof"].update(permutation=list(range(9))),
        page["worst"].update(permutation=list(range(9))),
    ),
    "no pairs": lambda page: page.update(crossing=None),
    "no proof": lambda page: page.update(proof=None, proof_reason="it takes too much room"),
    "another form": lambda page: page.update(version=2),
    "one channel fewer": lambda page: page["channels"].pop(),
    "every load halved": lambda page: page["crossing"].update(
        values=[str(int(value) // 2 or 1) for value in page["crossing"]["values"]]
    ),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("lie", LIES)
def test_lies_are_refused_with_a_reason(lie: str) -> None:
    payload = made(obliv.routing("romm", obliv.mesh(3, 3)))[0]
    LIES[lie](payload)
    (verdict,) = verdicts([payload])
    assert not verdict["holds"]
    assert verdict["text"].startswith("not proved: ")
    assert "malformed" not in verdict["text"]


def test_nonsense_is_refused() -> None:
    pages: list[Any] = [None, 3, "page", {}, [], {"version": 1}, {"version": 1, "channels": [1], "proof": {}}]
    assert not any(verdict["holds"] for verdict in verdicts(pages))
