"""Claims about failures after which a routing routes anew: honest ones are proved, forged ones refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.claims import change, exact, reasons

import obliv
from obliv._util.files import digest_of, write_json
from obliv._util.progress import OutOfTimeError, TimeLimit
from obliv.cli import main

Claim = dict[str, Any]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("topology", "routing", "of"),
    [("mesh:2x2", "ecmp", "links"), ("torus:3x2", "updown", "nodes"), ("line:3", "shortest", "nodes")],
)
def test_honest_claims_are_proved(topology: str, routing: str, of: str, tmp_path: Path) -> None:
    result = obliv.failures(obliv.routing(routing, obliv.topology(topology)), of=of, certificate=True)
    assert result == obliv.failures(obliv.routing(routing, obliv.topology(topology)), of=of, certificate=True)
    result.save(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    assert main(["failures", topology, routing, "--of", of, "--output", str(tmp_path / "own.json")]) == 0
    assert main(["verify", str(tmp_path / "own.json")]) == 0


def test_tables_are_checked_by_a_part_that_may_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = obliv.failures("line:3", "shortest", certificate=True).to_dict()
    del content["certificate"]["claims"]
    monkeypatch.setattr("obliv.checker.rerouted.Parts", lambda kind: {})
    (said,) = reasons(content, tmp_path / "claim.json")
    assert "it has no claims about networks" in said


def test_a_failure_may_leave_channels_without_traffic(tmp_path: Path) -> None:
    """A switch with two hosts: without the cable of one, the other has a cable and nobody to send to."""
    obliv.failures("subft:4,1", "ecmp", certificate=True).save(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved


def test_what_routes_the_rest_is_part_of_the_claim(tmp_path: Path) -> None:
    """Dimension order does not fit what is left of a mesh; another routing under the name of it is refused."""
    honest = obliv.failures("mesh:3x2", "dor", repair="updown", certificate=True)
    checked = obliv.verify(honest)
    assert checked.proved
    assert "routes being updown after it" in checked.claim
    for name in ("ecmp", "dor", "table:/etc/hostname"):
        claim = honest.to_dict()
        claim["repair"] = name
        claim["certificate"]["digest"] = digest_of(claim)
        write_json(claim, tmp_path / "claim.json")
        assert not obliv.verify(tmp_path / "claim.json").proved


def inner(number: int, *forge: Callable[[Claim], None]) -> Callable[[Claim], None]:
    """Change a claim about one network, whose digest fits again."""

    def apply(claim: Claim) -> None:
        content = claim["certificate"]["claims"][number]
        for one in forge:
            one(content)
        content["certificate"]["digest"] = digest_of(content)

    return apply


def swapped(*trail: Any, one: int = 0, two: int = 1) -> Callable[[Claim], None]:
    """Swap two entries of a list."""

    def apply(claim: Claim) -> None:
        rows = claim
        for key in trail:
            rows = rows[key]
        rows[one], rows[two] = rows[two], rows[one]

    return apply


def both(*forge: Callable[[Claim], None]) -> Callable[[Claim], None]:
    def apply(claim: Claim) -> None:
        for one in forge:
            one(claim)

    return apply


def lower(claim: Claim) -> None:
    """Lower a load in its row and in its claim, whose digest fits again."""
    claim["rows"][0]["channel_load"] = exact("1/2")
    inner(1, change("channel_load", to=exact("1/2")), change("throughput", to=exact("2")))(claim)


def drop(claim: Claim) -> None:
    del claim["rows"][0], claim["certificate"]["failed"][0], claim["certificate"]["claims"][1]


def repeat(claim: Claim) -> None:
    for rows, place in ((claim["rows"], 1), (claim["certificate"]["failed"], 1), (claim["certificate"]["claims"], 2)):
        rows[place + 1] = copy.deepcopy(rows[place])


CASES = {
    "links": lambda: obliv.failures("line:4", "shortest", certificate=True),
    "nodes": lambda: obliv.failures("line:3", "shortest", of="nodes", certificate=True),
    "given": lambda: obliv.failures("line:4", "shortest", fail=["1-2"], certificate=True),
    "nothing": lambda: obliv.failures("line:3", "shortest", fail=["0", "1", "2"], certificate=True),
}


@cache
def base(name: str) -> Claim:
    """A claim that is proved, to be copied before it is changed."""
    content: Claim = json.loads(json.dumps(CASES[name]().to_dict()))
    return content


PROOF = ("certificate",)
EVERY_ROW = "failed and claims need an entry for every row"
ALONE: list[tuple[str, Callable[[Claim], None], str]] = [
    ("links", change(*PROOF, "prices", to=[]), "a certificate of failures has the parts"),
    ("links", change(*PROOF, "sources", to=[]), "a certificate of failures has the parts"),
    ("links", change(*PROOF, "sources", to={"x": "0" * 64}), "x is listed, but the specs do not read it"),
    ("links", change(*PROOF, "failed", to=3), EVERY_ROW),
    ("links", change(*PROOF, "failed", to=lambda rows: rows[1:]), EVERY_ROW),
    ("links", change(*PROOF, "claims", to=4), EVERY_ROW),
    ("links", change(*PROOF, "claims", to=lambda rows: rows[1:]), EVERY_ROW),
    ("links", change(*PROOF, "failed", 0, to="1-2"), "failed must be lists of names"),
    ("links", change(*PROOF, "failed", 0, to=[1]), "failed must be lists of names"),
    ("links", change("rows", 0, "channel_load", "value", to=1.5), "a figure differs from its exact number"),
    ("links", change("before", "channel_load", "value", to=1.5), "a figure differs from its exact number"),
    ("links", change("of", to="cables"), "of 'cables' is not links, nodes or given"),
    ("links", change("of", to="given"), "of 'given' is not links, nodes or given"),
    ("links", change("repair", to="dor"), "routes after a failure are by 'dor', not by shortest or"),
    ("links", drop, "1 links are missing"),
    ("links", repeat, "1 links are missing"),
    ("links", change("of", to="nodes"), "4 nodes are missing"),
    (
        "links",
        both(swapped("rows"), swapped(*PROOF, "failed"), swapped(*PROOF, "claims", one=1, two=2)),
        "the rows are not in the order of their ranks",
    ),
    ("links", change("rows", 0, "alike", to=2), "a row stands for several failures"),
    ("links", change("rows", 0, "failed", to="link 0 - 2"), "'link 0 - 2' is not the name of what fails"),
    ("links", change("before", "missing", to=1), "before: another number of missing pairs"),
    ("links", change("before", "channel", to="0 -> 1"), "before: another channel is the worst"),
    ("links", change("before", "deadlock", to=True), "before: a deadlock is claimed to be True"),
    ("links", change("rows", 0, "pairs_lost", to=11), "link 1 - 2: 10 pairs are lost, claimed 11"),
    ("links", change("rows", 0, "deadlock", to=True), "link 1 - 2: a deadlock is claimed to be True"),
    ("links", change("rows", 0, "channel", to="nowhere"), "link 1 - 2: another channel is the worst"),
    ("links", change(*PROOF, "claims", 1, to=3), "a claim is not an object"),
    ("links", change(*PROOF, "claims", 1, to=None), "a claim is not an object"),
    (
        "links",
        inner(1, change("kind", to="ratio"), change("ratio", to=exact("1"))),
        "about another network, routing or",
    ),
    ("links", inner(1, change("routing", to="ecmp")), "the claim is about another network, routing or load"),
    ("links", swapped(*PROOF, "claims", one=2, two=3), "the claim is about another network, routing or load"),
    (
        "links",
        change("rows", 0, "channel_load", to=exact("3/2")),
        "the claim is about another network, routing or load",
    ),
    ("links", lower, "link 1 - 2: witness: it loads channel 0 by 1, claimed 1/2"),
    ("links", inner(1, change(*PROOF, "sources", to={"x": "0" * 64})), "link 1 - 2: source file: x is listed"),
    ("links", change(*PROOF, "claims", 1, "certificate", "digest", to=""), "link 1 - 2: digest: does not fit"),
    ("nodes", change("rows", 0, "channel", to="0 -> 1"), "node 1: no traffic is left"),
    ("nodes", change("rows", 0, "channel_load", to=exact("1")), "node 1: no traffic is left"),
    ("given", change(*PROOF, "failed", 0, to=["0-2"]), "no link of line:4 joins 0 and 2"),
    (
        "nothing",
        both(change(*PROOF, "failed", 0, to=["0-1"] * 2), change("rows", 0, "failed", to="link 0 - 1, link 0 - 1")),
        "0-1 of line:3 is named twice",
    ),
    ("nothing", change("rows", 0, "channel_load", to=exact("1")), "no terminal is left"),
    ("nothing", change("rows", 0, "deadlock", to=True), "no terminal is left"),
    ("nothing", change("rows", 0, "pairs_lost", to=5), "no terminal is left"),
]


@pytest.mark.parametrize(("of", "forge", "why"), ALONE, ids=[f"{of}-{why}" for of, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(
    of: str, forge: Callable[[Claim], None], why: str, tmp_path: Path
) -> None:
    claim = copy.deepcopy(base(of))
    forge(claim)
    (said,) = reasons(claim, tmp_path / "forged.json")
    assert why in said


@pytest.mark.parametrize("of", CASES)
def test_what_is_forged_is_proved(of: str, tmp_path: Path) -> None:
    assert reasons(copy.deepcopy(base(of)), tmp_path / "claim.json", digest=False) == []


@pytest.fixture(scope="module")
def honest() -> Claim:
    claim = copy.deepcopy(base("links"))
    assert len({row["pairs_lost"] for row in claim["rows"]}) > 1
    return claim


def verdicts(claim: Any) -> dict[str, bool | None]:
    return {check.check: check.ok for check in obliv.verify(claim).checks}


def test_a_row_that_is_not_proved_in_time_is_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    result = obliv.failures("mesh:2x2", "ecmp", certificate=True)
    monkeypatch.setattr(TimeLimit, "remaining", lambda limit: 0.0)
    assert verdicts(result)["failures"] is None


def test_what_is_wrong_stays_wrong_when_time_is_over(
    honest: Claim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, checks = copy.deepcopy(honest), list[TimeLimit]()
    claim["before"]["channel"] = "nowhere"
    claim["certificate"]["digest"] = digest_of(claim)
    write_json(claim, tmp_path / "claim.json")

    def check(limit: TimeLimit) -> None:
        """Let time be over in the second of all networks."""
        checks.append(limit)
        if sum(one is checks[0] for one in checks) > 1:
            raise OutOfTimeError

    monkeypatch.setattr(TimeLimit, "check", check)
    assert verdicts(tmp_path / "claim.json")["failures"] is False
