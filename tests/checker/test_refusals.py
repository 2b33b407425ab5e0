"""What `verify` and `explain` refuse whatever the kind of a claim, and trees on which splits prove no optimum."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import change, exact, reasons, save_claim

import obliv
from obliv.checker.report import Report, check_optimum
from obliv.errors import FileError, InputError
from obliv.results.claims import is_certified
from obliv.topologies.trees import Tree

Claim = dict[str, Any]
CLAIMS: dict[str, Callable[[], Any]] = {
    "worst": lambda: obliv.worst_case("mesh:2x2", "dor", certificate=True),
    "channels": lambda: obliv.worst_channels("line:3", "dor", certificate=True),
    "splits": lambda: obliv.worst_case("ring:4", "ecmp", certificate=True),
    "rates": lambda: obliv.worst_case("ring:4,injection=2", "dor", certificate=True),
    "ratio": lambda: obliv.ratio("ring:4", "dor", certificate=True),
    "throughput": lambda: obliv.throughput("mesh:2x2", "dor", "uniform"),
    "failures": lambda: obliv.failures("line:3", "shortest", certificate=True),
    "lottery": lambda: obliv.lottery("fattree:4,2", "shift:2"),
    "design": lambda: obliv.design("line:2"),
}


@cache
def base(name: str) -> Claim:
    """A claim that is proved, to be copied before it is changed."""
    content: Claim = json.loads(json.dumps(CLAIMS[name]().to_dict()))
    return content


def permuted(content: Claim) -> None:
    """A permutation in place of traffic between terminals with rates."""
    del content["traffic"]
    content["permutation"] = content["certificate"]["permutation"] = [1, 2, 3, 0]


ALONE: list[tuple[str, Callable[[Claim], None], str]] = [
    ("worst", change("kind", to="compare"), "contains no claim that can be checked (kind 'compare')"),
    ("worst", change("kind", to=["worst"]), "contains no claim that can be checked"),
    (
        "worst",
        change("channel_load", to={"value": 1.0, "stderr": 0.1, "samples": 9}),
        "an estimate, which has no certificate",
    ),
    ("worst", change("routing", to="pair loads"), "which cannot be rebuilt from its text; pass routing="),
    ("worst", change("routing", to="romm:k=3"), "its routing cannot be built"),
    ("worst", change("topology", to="mesh:x"), "its topology cannot be built"),
    ("worst", change("more", to=1), "more is not what obliv writes in such a claim"),
    ("splits", change("certificate", "denominator", to=1), "the loads of ecmp are not integers over 1"),
    ("ratio", change("routing", to=None), "topology or routing is missing"),
    ("ratio", change("topology", to=3), "topology or routing is missing"),
    ("throughput", change("topology", to=None), "topology or routing is missing"),
    ("failures", change("certificate", to=None), "it contains no certificate"),
    ("lottery", change("traffic", to=None), "topology or traffic is missing"),
    ("lottery", change("topology", to=None), "topology is missing"),
    ("lottery", change("routing", to="dmodk"), "such a claim is about 'ecmp', not 'dmodk'"),
    ("design", change("topology", to=None), "topology is missing"),
    ("design", change("routing", to="dor"), "such a claim is about 'design', not 'dor'"),
    ("channels", change("channels", 0, "channel_load", to=exact("9")), "channel_load is not the largest load of its"),
    ("channels", change("channels", 0, to=3), "channel_load is not the largest load of its channels"),
    ("channels", change("channel", to={"id": 9, "tail": 0, "head": 1}), "channel_load is not the largest load of its"),
    (
        "channels",
        change("channels", to=lambda rows: rows[::-1]),
        "the rows are not those of all channels, in their order",
    ),
    ("channels", change("channels", 3, "channel_load", to=exact("1/2")), "carries up to 1, claimed 1/2"),
    ("rates", permuted, "the terminals have rates, so the witness must be a traffic matrix"),
    ("rates", change("rated", to=False), "rated must say whether throughput is in multiples of the terminals' rates"),
    ("worst", change("rated", to=True), "rated must say whether throughput is in multiples of the terminals' rates"),
]


@pytest.mark.parametrize(("of", "forge", "why"), ALONE, ids=[f"{of}-{why}" for of, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(
    of: str, forge: Callable[[Claim], None], why: str, tmp_path: Path
) -> None:
    content = copy.deepcopy(base(of))
    forge(content)
    digest = isinstance(content.get("certificate"), dict) and "digest" in content["certificate"]
    (said,) = reasons(content, tmp_path / "forged.json", digest=digest)
    assert why in said


@pytest.mark.parametrize("of", CLAIMS)
def test_what_is_forged_is_proved(of: str, tmp_path: Path) -> None:
    assert reasons(copy.deepcopy(base(of)), tmp_path / "claim.json", digest=False) == []


def test_nothing_is_proved_after_the_time_limit(tmp_path: Path) -> None:
    (said,) = reasons(copy.deepcopy(base("worst")), tmp_path / "claim.json", budget=0.0)
    assert "time limit reached" in said


@pytest.mark.parametrize(("digests", "why"), [(["0" * 64], "has changed since"), ([], "has no SHA-256 in the claim")])
def test_a_file_is_that_of_the_claim(digests: list[str], why: str, tmp_path: Path) -> None:
    path = tmp_path / "paths.txt"
    path.write_text("path 1 0 1\npath 1 1 0\n")
    content = json.loads(json.dumps(obliv.worst_case("line:2", f"table:{path}", certificate=True).to_dict()))
    assert list(content["certificate"]["sources"]) == [str(path)]
    content["certificate"]["sources"] = {str(path): digest for digest in digests}
    (said,) = reasons(content, tmp_path / "claim.json")
    assert why in said


def test_a_design_needs_a_pair_of_terminals(tmp_path: Path) -> None:
    alone = obliv.line(2).with_terminals([0])
    (said,) = reasons(copy.deepcopy(base("design")), tmp_path / "claim.json", topology=alone)
    assert "has no pair of terminals" in said


def test_the_claim_inside_a_design_is_about_a_worst_case(tmp_path: Path) -> None:
    """All else holds of the ratio of the same routing, which is not the load that is claimed."""
    design = obliv.design("xgft:1;4;1")
    content = json.loads(json.dumps(design.to_dict()))
    content["certificate"]["worst"] = json.loads(json.dumps(obliv.ratio(design.subject, certificate=True).to_dict()))
    (said,) = reasons(content, tmp_path / "claim.json")
    assert "worst in the certificate is not the claim of a worst case" in said


@pytest.mark.parametrize(("claim", "why"), [("", "not an empty text"), (3, "a claim is a file or a result, not int")])
def test_what_is_no_claim_is_refused(claim: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        obliv.verify(claim)


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (OverflowError("integer too large to convert to float"), FileError, "a number is larger than any float"),
        (OverflowError("Python int too large to convert to C long"), OverflowError, "C long"),
        (ZeroDivisionError(), FileError, "a load or a capacity is 0 where the figures divide by it"),
    ],
)
def test_what_numbers_do_is_said_and_other_faults_are_not_the_claims(
    error: Exception, kind: type[Exception], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(*_: Any) -> None:
        raise error

    monkeypatch.setattr("obliv.checker.worst_case.check_worst_case", check)
    with pytest.raises(kind, match=why):
        obliv.verify(obliv.worst_case("mesh:2x2", "dor", certificate=True))


def test_a_result_is_certified_by_a_certificate_that_fits(tmp_path: Path) -> None:
    assert is_certified(obliv.load(save_claim(copy.deepcopy(base("worst")), tmp_path / "claim.json")))
    assert not is_certified(obliv.worst_case("mesh:2x2", "dor"))
    changed = copy.deepcopy(base("worst"))
    changed["certificate"]["denominator"] = 2
    assert not is_certified(obliv.load(save_claim(changed, tmp_path / "changed.json", digest=False)))


PART = obliv.ring(4).with_terminals([0, 1, 2])  # node 3 is not a terminal


def beyond(content: Claim) -> None:
    """Carry prices by a map that turns the ring, and so moves a terminal onto node 3."""
    content["certificate"] |= {"generators": [[1, 2, 3, 0]], "channels": [[0, [0]]] * 8}


EXPLAINED: list[tuple[Callable[[Claim], None], Any, str]] = [
    (lambda claim: None, "here", "'here' is not a channel: write its number or its nodes"),
    (lambda claim: None, "9" * 19, "is not a channel: write its number or its nodes"),
    (lambda claim: None, 8, "ring:4 with 3 terminals has no channel 8; channels are 0 to 7"),
    (change("channel", "tail", to=2), 0, "does not run from 2 to"),
    (change("certificate", "channels", 0, to={"threshold": 1}), 0, "a threshold proves loads of flow differences only"),
    (beyond, 0, "the word of channel 0 moves a terminal onto a node that is not a terminal"),
]


@pytest.mark.parametrize(("forge", "channel", "why"), EXPLAINED, ids=[why for _, _, why in EXPLAINED])
def test_what_cannot_be_explained_is_refused(
    forge: Callable[[Claim], None], channel: Any, why: str, tmp_path: Path
) -> None:
    content = json.loads(json.dumps(obliv.worst_case(obliv.Shortest(PART), certificate=True).to_dict()))
    forge(content)
    with pytest.raises(InputError, match=why) as raised:
        obliv.explain(save_claim(content, tmp_path / "claim.json"), channel)
    assert "\n" not in str(raised.value)


def test_prices_that_leave_the_terminals_prove_nothing(tmp_path: Path) -> None:
    content = json.loads(json.dumps(obliv.worst_case(obliv.Shortest(PART), certificate=True).to_dict()))
    beyond(content)
    said = reasons(content, tmp_path / "claim.json")
    assert said == ["the word of channel 0 moves a terminal onto a node that is not a terminal"]


# Trees: hosts 0 to 7, leaves 8 to 11 with two hosts each, roots 12 and 13 that join all leaves.

TREE = obliv.fattree(4, 2)
UP = [(8, 12), (8, 13), (9, 12), (9, 13), (10, 12), (10, 13), (11, 12), (11, 13)]
HOSTS = [(host, 8 + host // 2) for host in range(8)]


def tree(links: list[tuple[int, int]], order: Callable[[tuple[int, int]], Any] = lambda channel: channel) -> Tree:
    """A network of links, given by their lower and upper ends, that says it is the tree."""
    channels = sorted([*links, *((b, a) for a, b in links)], key=lambda channel: (channel[0], order(channel)))
    tail, head = np.array(channels, np.int32).T
    return replace(TREE, tail=tail, head=head)


def moved(links: list[tuple[int, int]], *changes: tuple[tuple[int, int], tuple[int, int]]) -> list[tuple[int, int]]:
    """Links of which some run elsewhere."""
    return [dict(changes).get(link, link) for link in links]


def one_way() -> Tree:
    """The way back from root 12 to leaf 8 leads to leaf 9."""
    head = TREE.head.copy()
    head[(TREE.tail == 12) & (TREE.head == 8)] = 9
    return replace(TREE, head=head)


CROWDED = moved(HOSTS, ((2, 9), (2, 8)), ((3, 9), (3, 8)))  # leaf 8 has four hosts
STAR = obliv.build("star", 3, [(0, 2), (2, 0), (1, 2), (2, 1)], terminals=[0, 1])
OPTIMA: list[tuple[str, Callable[[], obliv.Topology], str]] = [
    ("ring", lambda: obliv.ring(4), "a host has more than one link"),
    ("rates", lambda: TREE.with_rates(injection=[2] * 8), "a rate or bandwidth that is not 1"),
    ("bandwidth", lambda: replace(TREE, bandwidth=(Fraction(2),) * 32), "a rate or bandwidth that is not 1"),
    ("star", lambda: STAR, "the network is not a fat tree"),
    ("levels", lambda: tree(moved(HOSTS, ((0, 8), (0, 12))) + UP), "a link joins nodes that are not of neighboring"),
    ("reverse", one_way, "a link has no reverse link"),
    ("hosts", lambda: TREE.with_terminals([0, 1, 2]), "not every host sends"),
    ("form", lambda: tree(HOSTS + UP, lambda channel: -channel[1]), "a node of level 1 has other links up than"),
    (
        "crowd",
        lambda: tree(CROWDED + UP, lambda channel: (channel[1] in (2, 3), channel[1])),
        "equal splits may load a link by 4/2",
    ),
    ("twice", lambda: tree(HOSTS + moved(UP, ((8, 13), (8, 12)))), "two ways up lead to one node of level 2"),
    (
        "sides",
        lambda: tree(moved(HOSTS, ((1, 8), (1, 9)), ((2, 9), (2, 8))) + UP),
        "hosts of a sub-tree reach different",
    ),
]


@pytest.mark.parametrize(("make", "why"), [(make, why) for _, make, why in OPTIMA], ids=[name for name, *_ in OPTIMA])
def test_a_tree_of_another_form_proves_no_optimum(make: Callable[[], obliv.Topology], why: str) -> None:
    report = Report()
    check_optimum(report, make())
    (step,) = report.checks
    assert step.ok is False
    assert why in step.detail


def test_splits_are_the_best_routing_of_a_tree() -> None:
    for network in (TREE, tree(HOSTS + UP)):
        report = Report()
        check_optimum(report, network)
        assert report.holds
