"""Certificates by the letter of the contract, with a checker of its own; nothing of obliv.verify is used."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies
from tests.strategies import Case

import obliv


def plain(value: Any) -> Any:
    """Lists of Python integers, whichever way an array stands."""
    if isinstance(value, dict) and "b64zlib" in value:
        data = zlib.decompress(base64.b64decode(value["b64zlib"]))
        return plain(np.frombuffer(data, dtype=value["dtype"]).reshape(value["shape"]).tolist())
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    return value


def carried(dual: list[int], word: list[int], generators: list[list[int]], terminals: list[int]) -> list[int]:
    """A price vector carried along the generators of a word, one after the other."""
    place = {node: i for i, node in enumerate(terminals)}
    for g in word:
        moved = [0] * len(dual)
        for i, price in enumerate(dual):
            moved[place[generators[g][terminals[i]]]] = price
        dual = moved
    return dual


def check(made: dict[str, Any], loads: Any) -> None:
    """Every line of the contract's definition; `made` is what was saved."""
    topology = loads.topology
    certificate = made["certificate"]
    claim = Fraction(made["channel_load"]["exact"])
    denominator = int(certificate["denominator"])
    generators = plain(certificate["generators"])
    duals = plain(certificate["duals"])
    n = loads.terminals
    terminals = [int(t) for t in topology.terminals]
    out, into = topology.rates()
    tables = [strategies.table(loads, c) for c in range(topology.channels)]
    assert all(sorted(g) == list(range(topology.nodes)) for g in generators)
    assert all(len(v) == n and all(isinstance(x, int) and x >= 0 for x in v) for v in duals)
    assert all((w * denominator).denominator == 1 for table in tables for row in table for w in row)

    # the witness puts the load on the channel
    channel = made["channel"]["id"] if made["channel"] else None
    if made["permutation"] is not None:
        permutation = plain(made["permutation"])
        assert sorted(permutation) == list(range(n))
        assert plain(certificate["permutation"]) == permutation
        flows = [(i, j, Fraction(1)) for i, j in enumerate(permutation)]
    else:
        flows = [(i, j, Fraction(amount)) for i, j, amount in made["traffic"]]
    assert all(sum(x for i, _, x in flows if i == t) <= out[t] for t in range(n))
    assert all(sum(x for _, j, x in flows if j == t) <= into[t] for t in range(n))
    if channel is not None:
        load = sum((x * tables[channel][i][j] for i, j, x in flows), Fraction())
        assert load / topology.bandwidth_of(channel) == claim
        assert made["channel"]["tail"] == topology.tail[channel]
        assert made["channel"]["head"] == topology.head[channel]
    else:
        assert claim == 0

    # no channel carries more
    bounds = plain(certificate["channels"])
    assert len(bounds) == topology.channels
    for c, bound in enumerate(bounds):
        weights = [[w * denominator for w in row] for row in tables[c]]
        limit = claim * topology.bandwidth_of(c) * denominator
        if bound == "simple":
            rows = sum((a * max(row) for a, row in zip(out, weights, strict=True)), Fraction())
            columns = sum(
                (b * max(column) for b, column in zip(into, zip(*weights, strict=True), strict=True)), Fraction()
            )
            assert min(rows, columns) <= limit, f"channel {c}"
        else:
            number, word = bound
            v = carried(duals[number], word, generators, terminals)
            first = sum(
                (
                    a * max(0, *(w - x for w, x in zip(row, v, strict=True)))
                    for a, row in zip(out, weights, strict=True)
                ),
                Fraction(),
            )
            assert first + sum(b * x for b, x in zip(into, v, strict=True)) <= limit, f"channel {c}"


def made_of(subject: Any, **options: Any) -> tuple[dict[str, Any], Any]:
    result = obliv.worst_case(subject, certificate=True, **options)
    return json.loads(json.dumps(result.to_dict())), result


SPECS = [
    pytest.param("torus:5x5", "romm", marks=pytest.mark.nightly),
    ("torus:4x4", "romm"),
    ("torus:5x5", "dor"),
    pytest.param("torus:3x3x3", "dor", marks=pytest.mark.nightly),
    ("torus:3x2x3", "dor"),
    ("torus:4x3", "o1turn"),
    ("torus:2x4", "romm"),
    ("torus:4x3", "valiant"),
    ("mesh:4x4", "o1turn"),
    ("mesh:4x3", "romm"),
    ("mesh:3x2", "dor"),
    ("mesh:3x3x2", "dor:order=1-0-2"),
    ("hypercube:4", "ecmp"),
    ("hyperx:3x3", "valiant"),
    ("ring:9", "ecmp"),
    ("line:6", "shortest"),
    ("random-regular:n=14,d=3,seed=4", "ecmp"),
    ("random-regular:n=12,d=4,seed=4", "shortest"),
    ("complete:5", "ecmp"),
    ("torus:3x3", "1/3*dor+2/3*valiant"),
]


@pytest.mark.sampled(36)
@pytest.mark.parametrize(("topology", "routing"), SPECS)
@pytest.mark.parametrize("symmetry", ["auto", "off"])
def test_certificates_prove_the_claim(topology: str, routing: str, symmetry: str) -> None:
    result = obliv.routing(routing, obliv.topology(topology))
    check(made_of(result, symmetry=symmetry)[0], result.pair_loads())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("topology", "routing"),
    [
        ("torus:3x3", "dor"),
        pytest.param("torus:3x3x3", "dor", marks=pytest.mark.nightly),
        ("random-regular:n=14,d=3,seed=4", "ecmp"),
    ],
)
def test_certificates_with_symmetry_search(topology: str, routing: str) -> None:
    result = obliv.routing(routing, obliv.topology(topology))
    check(made_of(result, symmetry="search")[0], result.pair_loads())


@given(strategies.cases(), st.sampled_from(["auto", "off"]))
@strategies.examples(60)
def test_certificates_of_generated_networks(case: Case, symmetry: str) -> None:
    check(made_of(case.routing, symmetry=symmetry)[0], case.routing.pair_loads())


@given(strategies.cases(), st.integers(0, 2**32))
@strategies.examples(80)
def test_certificates_with_rates(case: Case, seed: int) -> None:
    rng = random.Random(seed)
    n = len(case.terminals)
    topology = case.topology.with_rates(
        [Fraction(rng.randint(1, 9), rng.randint(1, 3)) for _ in range(n)],
        [Fraction(rng.randint(1, 9), rng.randint(1, 3)) for _ in range(n)],
    )
    routing = type(case.routing)(topology, case.routing.listed)
    check(made_of(routing)[0], routing.pair_loads())


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["dor", "romm", "valiant", "o1turn", "ecmp"])
@pytest.mark.parametrize("spec", ["torus:3x3", "torus:4x2", "mesh:3x2"])
def test_certificates_of_cartesian_networks_with_rates(spec: str, name: str) -> None:
    rng = random.Random(spec + name)
    topology = obliv.topology(spec)
    out, into = ([Fraction(rng.randint(1, 4), 2) for _ in range(topology.nodes)] for _ in range(2))
    routing = obliv.routing(name, topology.with_rates(out, into))
    check(made_of(routing)[0], routing.pair_loads())


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", ["dor", "romm", "valiant", "o1turn", "ecmp"])
@pytest.mark.parametrize("terminals", [[0, 5, 10, 15], [3, 1, 2], list(range(15, -1, -1))])
def test_certificates_for_some_terminals(name: str, terminals: list[int]) -> None:
    routing = obliv.routing(name, obliv.torus(4, 4).with_terminals(terminals))
    check(made_of(routing)[0], routing.pair_loads())


def test_certificates_beyond_64_bits() -> None:
    nodes, n = 6, 4
    rng = random.Random(1)
    links = [(i, n) for i in range(n)] + [(n, n + 1), (n, n + 1)] + [(n + 1, j) for j in range(n)]
    topology = obliv.build("gate", nodes, links, terminals=range(n))
    paths = {}
    for s in range(n):
        for d in range(n):
            p = Fraction(rng.randint(1, 2**90), 2**90)
            paths[s, d] = [((s, n, n + 2 + d), p), ((s, n + 1, n + 2 + d), 1 - p)]
    routing = strategies.Paths(topology, paths)
    result, _ = made_of(routing)
    assert int(result["certificate"]["denominator"]).bit_length() > 64
    check(result, routing.pair_loads())


def test_the_checker_sees_what_is_wrong() -> None:
    """Guards the tests above: changed claims, prices, words and witnesses are refused."""
    routing = obliv.routing("romm", obliv.torus(4, 4))
    loads = routing.pair_loads()
    whole = json.dumps(made_of(routing)[0])
    check(json.loads(whole), loads)

    def refused(change: Any) -> None:
        content = json.loads(whole)
        change(content)
        with pytest.raises(AssertionError):
            check(content, loads)

    refused(lambda m: m["channel_load"].update(exact="149/100"))
    refused(lambda m: m["channel_load"].update(exact="3"))
    refused(lambda m: m["certificate"].update(duals=[[0] * 16] * len(plain(m["certificate"]["duals"]))))
    refused(lambda m: m["permutation"].reverse())
    refused(lambda m: m["certificate"]["channels"].pop())
    refused(lambda m: m["certificate"].update(channels=["simple"] * loads.topology.channels))


# The file.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_the_saved_file(tmp_path: Path, suffix: str) -> None:
    """One JSON file, gzip by its name; the digest fits everything else in canonical JSON and to nothing else."""
    routing = obliv.routing("romm", obliv.torus(4, 4))
    _, result = made_of(routing)
    path = tmp_path / f"claim{suffix}"
    result.save(path)
    raw = path.read_bytes()
    assert raw.startswith(b"\x1f\x8b") is suffix.endswith(".gz")
    content = json.loads(gzip.decompress(raw) if suffix.endswith(".gz") else raw)
    check(content, routing.pair_loads())
    assert {"denominator", "permutation", "duals", "generators", "channels", "digest", "sources"} <= set(
        content["certificate"]
    )
    digest = content["certificate"].pop("digest")
    canonical = [
        json.dumps(content, sort_keys=True, separators=separators, ensure_ascii=ascii_only).encode()
        for separators in ((",", ":"), (", ", ": "))
        for ascii_only in (True, False)
    ]
    assert digest in [hashlib.sha256(text).hexdigest() for text in canonical]


def test_certificate_only_when_asked() -> None:
    routing = obliv.routing("dor", obliv.torus(3, 3))
    assert obliv.worst_case(routing).certificate is None
    assert "certificate" not in obliv.worst_case(routing).to_dict()


def test_sources_of_a_certificate(tmp_path: Path) -> None:
    """A spec that reads a file stands in provenance with the file's SHA-256."""
    topology = obliv.build("triangle", 3, [(0, 1), (1, 2), (2, 0)])
    file = tmp_path / "hops.txt"
    file.write_text("hop 0 1 1\nhop 0 2 1\nhop 1 2 2\nhop 1 0 2\nhop 2 0 0\nhop 2 1 0\n")
    result, _ = made_of(obliv.routing(f"table:{file}", topology))
    assert list(result["certificate"]["sources"].values()) == [hashlib.sha256(file.read_bytes()).hexdigest()]
    assert hashlib.sha256(file.read_bytes()).hexdigest() in json.dumps(result["provenance"])
    check(result, obliv.routing(f"table:{file}", topology).pair_loads())
