"""Lower bounds and certificates of ratios, and forged ones."""

from __future__ import annotations

import copy
import math
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import claims
from tests.checker import test_certificates
from tests.claims import save_claim
from tests.routings.trees.by_paper import (
    REFERENCE,
    F,
    all_shortest,
    brute,
    by_choice,
    crossings,
    exactly,
    grid,
    largest,
    made_of,
    plain_json,
    route,
    tree,
)

import obliv
from obliv.cli import main
from obliv.results import digest_of
from obliv.topologies import trees as tree_bounds


def test_bounds_as_printed() -> None:
    for m in range(4, 40, 2):
        k = m // 2
        root = math.isqrt(k - 1) + 1
        assert tree_bounds.theorem3(m) == tree_bounds.theorem2(m, m) == root
        assert tree_bounds.theorem4(m) == k
        assert tree_bounds.single_path_bound(m, 2) == root
        assert tree_bounds.single_path_bound(m, 3) == k
        for n in range(2, 8):
            assert tree_bounds.theorem5(m, n) == k ** ((n - 1) // 3)
            exact = k ** (2 * n // 3)  # the square of the sharpened bound
            assert tree_bounds.single_path_bound(m, n) == math.isqrt(exact - 1) + 1
            assert tree_bounds.single_path_bound(m, n) >= tree_bounds.theorem5(m, n)
        for lids in range(1, k + 2):
            assert tree_bounds.with_lids(m, lids) == max(-(-k // lids), root)


def test_bounds_are_below_the_best_known() -> None:
    """D-mod-k at any height; for n = 4 the rule of section 9 of the notes."""
    for m in range(4, 20, 2):
        k = m // 2
        for n in range(2, 7):
            known = max(min(k**h, m * k ** (n - 1 - h) - 1) for h in range(1, n))
            known = {2: grid(k), 3: k, 4: min(known, k * grid(k)), 5: min(known, k * k)}.get(n, known)
            assert tree_bounds.single_path_bound(m, n) <= known


def test_bounds_with_lids_are_below_the_grids() -> None:
    rows = {label: row for label, row in REFERENCE["lids"].items() if label.startswith("L LIDs")}
    assert len(rows) >= 20
    for label, row in rows.items():
        m, lids = int(label.split("FT(")[1].split(",")[0]), int(label.split("L=")[1])
        assert tree_bounds.with_lids(m, lids) <= row["ratio"]
        k = m // 2
        if k % lids == 0 and lids**2 <= k:
            assert tree_bounds.with_lids(m, lids) == row["ratio"]


def without_two_disjoint(hosts: int, leaves: int, roots: int) -> bool:
    """Whether every pair between leaves can have a root so that no link has two node-disjoint pairs.

    All pairs of a link then have a source in common, or a destination.
    """
    pairs = [(s, d) for s in range(hosts * leaves) for d in range(hosts * leaves) if s // hosts != d // hosts]
    on: dict[Any, list[tuple[int, int]]] = defaultdict(list)

    def fits(link: Any, pair: tuple[int, int]) -> bool:
        others = [*on[link], pair]
        return len({s for s, _ in others}) == 1 or len({d for _, d in others}) == 1

    def place(index: int) -> bool:
        if index == len(pairs):
            return True
        s, d = pairs[index]
        for root in range(roots):
            up, down = (s // hosts, root), (root, d // hosts, "down")
            if fits(up, (s, d)) and fits(down, (s, d)):
                on[up].append((s, d))
                on[down].append((s, d))
                if place(index + 1):
                    return True
                on[up].pop()
                on[down].pop()
        return False

    return place(0)


@pytest.mark.parametrize(("k", "leaves"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (4, 2)])
def test_theorem_2_by_search(k: int, leaves: int) -> None:
    """Ratio 1 is out of reach exactly where the theorem says 2, on trees small enough to look."""
    reachable = without_two_disjoint(k, leaves, k)
    bound = tree_bounds.theorem2(2 * k, leaves)
    assert reachable == (leaves == 2)
    assert bound == (1 if leaves**2 < 4 * k else 2)
    assert bound == 1 or not reachable


@pytest.mark.nightly
def test_a_wider_tree_may_undercut_the_bound() -> None:
    """A root for every pair of places: ratio 1. A bound by hosts a leaf would be wrong here."""
    for k, leaves in ((2, 4), (3, 4)):
        spec = f"xgft:2;{k},{leaves};1,{k * k}"
        routing = by_choice(tree(spec), {(s, d): s % k * k + d % k for s, d in all_shortest(spec)})
        result = obliv.ratio(routing)
        assert result.ratio == 1
        assert (result.lower_bound or 1) == 1
    spec = "xgft:2;4,8;1,8"  # one more square: groups of 2 by single destinations
    routing = by_choice(tree(spec), {(s, d): s % 4 // 2 * 4 + d % 4 for s, d in all_shortest(spec)})
    assert obliv.ratio(routing).ratio == brute(routing) >= (obliv.ratio(routing).lower_bound or 1)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("spec", ["eft2:4,3", "eft2:6,4", "eft2:8,4", "eft2:6,3", "fattree:4,2"])
def test_no_search_goes_below_the_bound(spec: str) -> None:
    """Pairs are moved to other roots as long as the sum of the squared matchings does not grow."""
    topology, chance = tree(spec), random.Random(7)
    k = topology.children[0]
    roots = {pair: chance.randrange(k) for pair in all_shortest(spec) if pair[0] // k != pair[1] // k}
    on: dict[Any, dict[tuple[int, int], int]] = defaultdict(dict)

    def both(pair: tuple[int, int], root: int) -> tuple[Any, Any]:
        return (pair[0] // k, root, "up"), (pair[1] // k, root, "down")

    for pair, root in roots.items():
        for link in both(pair, root):
            on[link][pair] = 1
    size = {link: largest(pairs, 1) for link, pairs in on.items()}
    pairs = sorted(roots)
    for _ in range(400):
        pair = chance.choice(pairs)
        old, new = roots[pair], chance.randrange(k)
        if old == new:
            continue
        links = [*both(pair, old), *both(pair, new)]
        for link in links[:2]:
            del on[link][pair]
        for link in links[2:]:
            on[link][pair] = 1
        after = {link: largest(on[link], 1) for link in links}
        if sum(v**2 for v in after.values()) <= sum(size.get(link, 0) ** 2 for link in links):
            roots[pair] = new
            size |= after
        else:
            for link in links[2:]:
                del on[link][pair]
            for link in links[:2]:
                on[link][pair] = 1
    result = obliv.ratio(by_choice(topology, defaultdict(int, roots)))
    assert result.ratio == max(size.values())
    assert (result.lower_bound or 1) <= result.ratio


CERTIFIED = [
    ("fattree:4,2", "dmodk"),
    ("fattree:4,2", "omrmn"),
    ("fattree:6,2", "osrm2"),
    ("fattree:4,2", "1/2*dmodk+1/2*smodk"),
    ("eft2:8,3", "kpath:3,base=dmodk,select=shift"),
    ("eft2:6,4", "kpath:2,base=osrm2,select=random"),
    ("xgft:3;2,3,2;1,2,3", "hash:seed=2"),
    # Once "the loads of ecmp are no whole numbers" with three parents a leaf.
    ("xgft:2;1,2;1,3", "dmodk"),
    ("xgft:2;3,3;1,5", "updown"),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("spec", "name"), CERTIFIED)
def test_certificates_hold(spec: str, name: str, tmp_path: Path) -> None:
    result = obliv.ratio(route(spec, name), certificate=True)
    outcome = plain_json(result)
    test_certificates.check(outcome | {"channel_load": outcome["ratio"]}, route(spec, name).pair_loads())
    assert outcome["certificate"]["digest"] == digest_of(outcome)
    assert outcome["kind"] == "ratio"
    for file in (tmp_path / "claim.json", tmp_path / "claim.json.gz"):
        result.save(file)
        assert obliv.verify(file).proved
        assert obliv.verify(file, quick=True).verdict == "one channel holds; not proved"
        again = obliv.load(file)
        assert again.to_dict() == result.to_dict()
        assert (again.ratio, again.permutation) == (result.ratio, result.permutation)
    assert main(["verify", str(tmp_path / "claim.json")]) == 0
    assert "certificate" not in obliv.ratio(route(spec, name)).to_dict()


def refused(claim: dict[str, Any], tmp_path: Path, keep_digest: bool = False, verb: bool = False) -> bool:
    """Whether a claim is refused, in Python or, by exit status 1 or 2, on the command line."""
    file = tmp_path / "forged.json"
    if verb:
        return main(["verify", str(save_claim(claim, file))]) in (1, 2)
    return claims.refused(claim, file, not keep_digest)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "name"), CERTIFIED[:7])
def test_another_ratio_is_refused(spec: str, name: str, tmp_path: Path) -> None:
    result = made_of(spec, name)
    claim = F(result["ratio"]["exact"])
    for other in (claim - F(1, 2), claim - 1, claim + 1, F(0), -claim):
        assert refused(copy.deepcopy(result) | {"ratio": exactly(other)}, tmp_path, verb=other == claim - 1)
    assert refused(result | {"ratio": {"exact": str(claim), "value": float(claim) / 2}}, tmp_path)
    assert refused(result | {"ratio": exactly(claim - F(1, 2))}, tmp_path, keep_digest=True)
    # Lowered, with a witness that fits the lower claim: then the channels do not.
    match, hosts = crossings(spec, name), len(tree(spec).terminals)
    shift = [(i + hosts // 2) % hosts for i in range(hosts)]
    loads = {channel: match.along(channel, shift) for channel in match.on}
    for channel, load in loads.items():
        if 0 < load < claim:
            topology = tree(spec)
            ends = {"id": channel, "tail": int(topology.tail[channel]), "head": int(topology.head[channel])}
            names = [topology.name_of(ends["tail"]), topology.name_of(ends["head"])]
            forged = copy.deepcopy(result) | {"channel": ends, "channel_names": names, "permutation": shift}
            forged["certificate"]["permutation"] = shift
            assert refused(forged | {"ratio": exactly(load)}, tmp_path)
            break


def test_other_routings_and_trees_are_refused(tmp_path: Path) -> None:
    result = made_of("fattree:4,3", "osrm3")
    for name in ("dmodk", "smodk", "osrm3-d", "omrmn", "hash:seed=1", "kpath:2,base=osrm3", "nonsense", ""):
        assert refused(copy.deepcopy(result) | {"routing": name}, tmp_path)
    for spec in ("eft2:4,3", "fattree:4,2", "fattree:6,3", "xgft:3;2,2,4;1,2,1", "torus:4x4", "nonsense", ""):
        assert refused(copy.deepcopy(result) | {"topology": spec}, tmp_path)
    for kind in ("worst", "traffic-ratio", "schedule", ""):
        assert refused(copy.deepcopy(result) | {"kind": kind}, tmp_path)
    assert not refused(result, tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sub-eft2:4,3", "ecmp"),
        ("xgft:2;4,4;1,2", "omrmn"),
        ("xgft:2;4,4;2,4", "omrmn"),
        ("mesh:3x3", "dor"),
        ("torus:3x3", "valiant"),
        ("complete:5", "shortest"),
    ],
)
def test_a_worst_case_is_no_ratio(spec: str, name: str, tmp_path: Path) -> None:
    """Sound worst cases, called ratios where the best routing is not known."""
    worst = plain_json(obliv.worst_case(route(spec, name), certificate=True))
    pattern = made_of("fattree:4,2", "dmodk")
    result = {key: worst[key] for key in pattern if key in worst} | {"kind": "ratio", "ratio": worst["channel_load"]}
    result |= {"lower_bound": None, "lower_bound_source": ""}
    assert set(result) >= set(pattern) - {"channel_names"}
    assert refused(result, tmp_path)
    plain = made_of("fattree:4,2", "omrmn")
    assert not refused(plain, tmp_path)


@pytest.mark.parametrize(
    ("spec", "name"), [("fattree:6,2", "1/2*dmodk+1/2*smodk"), ("fattree:4,2", "omrmn"), ("fattree:4,2", "hash:seed=1")]
)
def test_forged_channels_are_refused(spec: str, name: str, tmp_path: Path) -> None:
    result, match = made_of(spec, name), crossings(spec, name)
    claim, channels = F(result["ratio"]["exact"]), result["certificate"]["channels"]
    beyond = []
    for channel, pairs in match.on.items():
        rows: dict[int, int] = defaultdict(int)
        columns: dict[int, int] = defaultdict(int)
        for (i, j), share in pairs.items():
            rows[i], columns[j] = max(rows[i], share), max(columns[j], share)
        if min(sum(rows.values()), sum(columns.values())) > claim * match.denominator:
            beyond.append(channel)
    assert all(channels[channel] != "simple" for channel in beyond)
    for channel in beyond[:4]:
        forged = copy.deepcopy(result)
        forged["certificate"]["channels"][channel] = "simple"
        assert refused(forged, tmp_path)
    assert beyond or "kpath" not in name

    def changed(change: Callable[[dict[str, Any]], Any]) -> bool:
        forged = copy.deepcopy(result)
        change(forged["certificate"])
        return refused(forged, tmp_path)

    assert changed(lambda c: c["channels"].pop())
    assert changed(lambda c: c["channels"].append("simple"))
    assert changed(lambda c: c.update(channels=[]))
    assert changed(lambda c: c.update(channels="simple"))
    assert changed(lambda c: c["channels"].__setitem__(0, [99, []]))
    assert changed(lambda c: c["channels"].__setitem__(0, [-1, []]))
    assert changed(lambda c: c["channels"].__setitem__(0, "trust me"))
    assert changed(lambda c: c.update(denominator=0))
    assert changed(lambda c: c.update(denominator=-c["denominator"]))
    assert changed(lambda c: c.update(permutation=c["permutation"][::-1]))
    if beyond:
        assert changed(lambda c: c.update(duals=[[0] * len(result["permutation"]) for _ in c["duals"]]))
        assert changed(lambda c: c.update(duals=[[-1] * len(result["permutation"]) for _ in c["duals"]]))
        assert changed(lambda c: c.update(duals=[]))
    identity = list(range(len(result["permutation"])))
    forged = copy.deepcopy(result) | {"permutation": identity}
    forged["certificate"]["permutation"] = identity
    assert refused(forged, tmp_path)
    forged = copy.deepcopy(result) | {"permutation": [0] * len(identity)}
    forged["certificate"]["permutation"] = [0] * len(identity)
    assert refused(forged, tmp_path)
    forged = copy.deepcopy(result)
    forged["channel"]["id"] = (forged["channel"]["id"] + 1) % len(channels)
    assert refused(forged, tmp_path)
    assert not refused(result, tmp_path)


# Once not looked at, so that any routing passed for an optimal one.
@pytest.mark.parametrize("bound", [4, 9, 1])
def test_a_forged_lower_bound_is_refused(bound: int, tmp_path: Path) -> None:
    result = made_of("fattree:8,2", "dmodk")
    assert result["lower_bound"] == exactly(2)
    assert refused(result | {"lower_bound": exactly(bound)}, tmp_path)


def test_the_json_of_a_ratio() -> None:
    outcome = made_of("fattree:8,2", "dmodk")
    assert {"kind", "topology", "routing", "provenance", "ratio", "channel", "permutation", "lower_bound"} <= set(
        outcome
    )
    assert outcome["ratio"] == exactly(4)
    assert set(outcome["channel"]) == {"id", "tail", "head"}
    assert outcome["provenance"]["exactness"] == "exact"
    assert outcome["provenance"]["specs"] == {"topology": "fattree:8,2", "routing": "dmodk"}
    result = obliv.ratio(route(outcome["provenance"]["specs"]["topology"], outcome["provenance"]["specs"]["routing"]))
    assert len(repr(result)) < 400
    assert "4" in repr(result)
