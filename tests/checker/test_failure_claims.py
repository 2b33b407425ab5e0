"""Claims about failures: honest ones are proved, forged ones refused."""

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
from tests.claims import change, exact, reasons
from tests.fabric.outages import fabrics

import obliv
from obliv._util.files import digest_of, pack, unpack_array, write_json
from obliv._util.progress import OutOfTimeError, TimeLimit
from obliv.errors import FileError, InputError, TooLargeError
from obliv.fabric.checker.routes import hops_of, routes_of
from obliv.fabric.generate import from_routing, from_topology
from obliv.fabric.outages.certificate import why_none
from obliv.fabric.outages.every import failures
from obliv.fabric.outages.sets import every_failure
from obliv.fabric.routes.routing import FabricHops
from obliv.routings.descriptions import NextHops
from obliv.topologies.base import find

Claim = dict[str, Any]
Forge = Callable[[Claim], Any]
Change = Callable[[Any], Any]


def proved_where_there_is_a_proof(seed: int) -> bool:
    """Return whether tables drawn at random get a certificate, which is then proved."""
    routing, of, repair, offset = fabrics.drawn(seed)
    result = failures(routing, of=of, repair=repair, offset=offset, certificate=True)
    if why_none(routing, every_failure(routing.topology, of), repair, result.before.deadlock):
        assert result.certificate is None
        return False
    assert result == failures(routing, of=of, repair=repair, offset=offset, certificate=True)
    checked = obliv.verify(result)
    assert checked.proved, checked
    return True


def test_honest_claims_are_proved() -> None:
    assert sum(proved_where_there_is_a_proof(seed) for seed in (0, 2, 4, 6)) > 1


@pytest.mark.nightly
def test_many_honest_claims_are_proved() -> None:
    assert sum(proved_where_there_is_a_proof(seed) for seed in range(10, 310)) > 100


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["osrm3-d", "dmodk"])
@pytest.mark.parametrize("repair", ["keep", "refill"])
def test_claims_about_a_large_tree(name: str, repair: str, tmp_path: Path) -> None:
    result = failures(from_routing(obliv.routing(name, obliv.topology("fattree:8,3"))), repair=repair, certificate=True)
    result.save(tmp_path / "claim.json")
    assert (tmp_path / "claim.json").stat().st_size < 2**20
    assert obliv.verify(result).proved


@pytest.mark.parametrize(
    ("lmc", "offset", "reason"),
    [(1, "index", ""), (1, "group", ""), (2, "3", ""), (1, "spread", "several paths"), (0, "0", "")],
)
def test_claims_about_hosts_with_several_lids(lmc: int, offset: str, reason: str, tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"), lmc=lmc)
    tables = obliv.fabric.route(fabric, "updown").tables
    assert tables is not None
    routing = obliv.fabric.routing(obliv.fabric.network(fabric), tables, offset)
    assert isinstance(routing, FabricHops) is (offset in "03")
    for of in ("cables", "switches"):
        result = failures(routing, of=of, offset=offset, certificate=True)
        assert (result.certificate is None) is bool(reason)
        if reason:
            assert reason in result.notes[-1]
            return
        assert obliv.verify(result).proved
    assert bool(why_none(routing, [], "refill", False)) is (lmc > 0)
    assert bool(why_none(routing, [], "keep", True)) is (lmc > 0)
    claim = result.to_dict() | {"certificate": copy.deepcopy(result.certificate)}
    claim["rows"][-1]["pairs_lost"] -= 1
    note = next(each for each in checked(claim, routing, tmp_path).checks if each.check == "lost pairs")
    assert note.ok is False


def given() -> obliv.results.Failures:
    """What two cables that fail together do."""
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    return failures(routing, fail=["switch((0),1)/3", "switch((1),0)"], repair="refill", certificate=True)


def test_claims_about_given_failures_are_proved() -> None:
    result = given()
    assert obliv.verify(result).proved
    cut = failures(result.subject, fail=["host(0,0)/1"], certificate=True)
    assert cut.certificate is None
    with pytest.raises(FileError, match="no certificate"):
        obliv.verify(cut)


@pytest.mark.parametrize("of", ["cables", "switches"])
def test_claims_about_engines_contain_their_tables(of: str, tmp_path: Path) -> None:
    result = honest("engine") if of == "cables" else failures(given().subject, of=of, repair="updown", certificate=True)
    assert obliv.verify(result).proved
    assert (result.most_lost > 0) == (of == "switches")
    claim = result.to_dict()
    tables = unpack_array(claim["certificate"]["tables"])
    assert tables.shape == (len(result.failures), 6, 8)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_many_claims_about_engines(seed: int) -> None:
    routing, of, _, offset = fabrics.drawn(seed)
    result = failures(routing, of=of, repair="layered", offset=offset, certificate=True)
    assert result.certificate is None or obliv.verify(result).proved


def test_answers_without_the_memory_for_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(needed: float, what: str) -> None:
        raise TooLargeError(f"{what} would need more")

    monkeypatch.setattr("obliv.fabric.outages.certificate.require_memory", refuse)
    result = failures(from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2"))), certificate=True)
    assert result.certificate is None
    assert "no certificate" in result.notes[-1]
    assert len(result.failures) == 8


# Each part is refused by its own check, and by nothing else.


@cache
def honest(name: str = "cables") -> obliv.results.Failures:
    """Failures that are proved, whose claim is to be copied before it is changed."""
    if name == "given":
        return given()
    if name == "lanes":
        fabric = from_topology(obliv.topology("torus:2x3"))
        routing = obliv.fabric.routing(obliv.fabric.network(fabric), obliv.fabric.route(fabric, "updown").tables)
        return failures(routing, of="lanes", certificate=True)
    if name == "engine":
        return failures(given().subject, repair="updown", certificate=True)
    if name == "prices":  # with prices before a failure, and others after it
        routing, of, repair, offset = fabrics.drawn(18)
        return failures(routing, of=of, repair=repair, offset=offset, certificate=True)
    tables = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    fabric = obliv.fabric.routing(tables.topology, _worse(tables.routes.tables))
    return failures(fabric, of=name, repair="refill" if name == "cables" else "keep", certificate=True)


def _worse(tables: Any) -> Any:
    """Return tables in which one switch forwards by a port that others use too, so that rows differ."""
    out = tables.out.copy()
    row = next(k for k in range(len(out)) if len(set(out[k].tolist())) > 4)
    out[row][out[row] == 4] = 3
    return replace(tables, out=out)


def checked(claim: Claim, subject: Any, folder: Path, digest: bool = True) -> obliv.results.Verification:
    if digest:
        claim["certificate"]["digest"] = digest_of(claim)
    write_json(claim, folder / "claim.json")
    return obliv.verify(folder / "claim.json", topology=subject.topology, routing=subject)


def test_the_rows_of_what_is_forged_differ() -> None:
    assert len({row.pairs_lost for row in honest().failures}) > 1
    assert len({row.pairs_lost for row in honest("switches").failures}) > 1
    assert all(honest("prices").certificate[part]["channel"] for part in ("prices", "corrections"))  # type: ignore[index]


PROOF = ("certificate",)
FAILED, WITNESSES = (*PROOF, "failed"), (*PROOF, "witnesses")
FIRST = ("rows", 0)
NAME = "switch((1),1) port 3 - switch((0),0) port 2"  # of the first row


def both(*forge: Forge) -> Forge:
    def apply(claim: Claim) -> None:
        for one in forge:
            one(claim)

    return apply


def lower(claim: Claim) -> None:
    for row in claim["rows"]:
        row["channel_load"] = exact("3/2")


def swap(claim: Claim) -> None:
    """Swap the first row with the last, which loses fewer pairs, with all that belongs to them."""
    rows, proof = claim["rows"], claim["certificate"]
    channels, witness = proof["failed"]["channels"], proof["witness"]  # of one cable each
    rows[0], rows[-1] = rows[-1], rows[0]
    channels[:2], channels[-2:] = channels[-2:], channels[:2]
    witness[1], witness[-1] = witness[-1], witness[1]


def drop(claim: Claim) -> None:
    proof = claim["certificate"]
    del claim["rows"][0], proof["witness"][1], proof["failed"]["channels"][:2]
    proof["failed"]["first_channel"] = [k - 2 for k in proof["failed"]["first_channel"][1:]]
    del proof["failed"]["first_node"][0]


def repeat(claim: Claim) -> None:
    """List the first row twice."""
    proof, rows = claim["certificate"], claim["rows"]
    channels, first = proof["failed"]["channels"], proof["failed"]["first_channel"]
    rows.insert(0, rows[0])
    channels[:0] = channels[:2]
    first.append(first[-1] + 2)
    proof["failed"]["first_node"].append(0)
    proof["witness"].insert(1, proof["witness"][1])


def turn_around(claim: Claim) -> None:
    """Name the cables of the first row from their other ends."""
    channels, end = claim["certificate"]["failed"]["channels"], claim["certificate"]["failed"]["first_channel"][1]
    pairs = sorted((back, there) for there, back in zip(channels[:end:2], channels[1:end:2], strict=True))
    channels[:end] = [channel for pair in pairs for channel in pair]


def only_row(claim: Claim) -> None:
    """Call the rows those of one failure that was given."""
    claim["of"] = "given"


def tables(to: Callable[[Any], Any]) -> Forge:
    return change(*PROOF, "tables", to=lambda rows: pack(to(np.array(rows, np.int32))))


def turned(rows: Any) -> Any:
    rows[0, [0, 1]] = rows[0, [1, 0]]
    return rows


def beamed(rows: Any) -> Any:
    rows[0, 1, 0] = 8
    return rows


def cut(rows: Any) -> Any:
    rows[0, 0, 7] = -1
    return rows


ALONE: list[tuple[str, Forge, str]] = [
    ("cables", change(*PROOF, to=None), "it contains no certificate"),
    ("cables", change(*PROOF, "more", to=1), "a certificate of failures has the parts"),
    ("cables", change(*PROOF, "sources", to=[]), "a certificate of failures has the parts"),
    ("cables", change(*PROOF, "sources", to={"fabric.net": "0" * 64}), "fabric.net is listed, but the specs"),
    ("cables", change("rows", 0, "channel_load", "value", to=1.0), "a figure differs from its exact number"),
    ("cables", change("before", "channel_load", "value", to=1.0), "a figure differs from its exact number"),
    ("cables", change(*PROOF, "prices", to=None), "prices: channel is missing"),
    ("cables", change(*WITNESSES, to={"channel": []}), "witnesses: permutation is missing"),
    ("cables", change(*WITNESSES, "permutation", to=[0, 1]), "each needs one destination for every terminal"),
    ("cables", change(*WITNESSES, "permutation", 0, to=8), "witnesses: a number of permutation is out of range"),
    ("cables", change(*WITNESSES, "channel", 0, to=-1), "witnesses: a number of channel is out of range"),
    ("cables", change(*FAILED, "channels", 0, to=32), "failed: a number of channels is out of range"),
    ("cables", change(*FAILED, "channels", 0, to="x"), "failed: channels cannot be unpacked"),
    ("cables", change(*FAILED, "first_channel", to=[0]), "failed: first_channel does not divide the list into 8 parts"),
    ("cables", change(*FAILED, "first_channel", 0, to=1), "failed: first_channel does not divide the list into 8"),
    ("cables", change(*FAILED, "first_channel", 8, to=15), "failed: first_channel does not divide the list into 8"),
    ("cables", change(*FAILED, "first_channel", 1, to=5), "failed: first_channel does not divide the list into 8"),
    ("cables", change(*PROOF, "witness", to=[[]]), "witness: each row needs the number of a witness, or -1"),
    ("cables", change(*PROOF, "witness", 0, to=7), "witness: each row needs the number of a witness, or -1"),
    ("cables", change(*PROOF, "witness", 0, to=-2), "witness: each row needs the number of a witness, or -1"),
    ("prices", change(*PROOF, "corrections", "row", to=lambda rows: rows[1:]), "row and channel differ in length"),
    ("prices", change(*PROOF, "corrections", "row", 0, to=11), "corrections: a number of row is out of range"),
    ("prices", change(*PROOF, "corrections", "terminal", 0, to=7), "may load channel"),
    ("prices", change(*PROOF, "prices", "terminal", to=lambda ends: [0] * len(ends)), "may load channel"),
    ("engine", tables(lambda rows: rows[1:]), "tables: each row needs a channel, or -1"),
    ("engine", tables(lambda rows: rows + 100), "tables: each row needs a channel, or -1"),
    ("engine", tables(lambda rows: rows - 100), "tables: each row needs a channel, or -1"),
    ("engine", tables(turned), "tables: a channel does not leave its switch"),
    ("engine", lambda claim: claim["certificate"].pop("tables"), "tables after a failure by 'updown' are missing"),
    ("cables", change("repair", to="updown"), "tables after a failure by 'updown' are missing, or not needed"),
    ("engine", change("repair", to="keep"), "tables after a failure by 'keep' are missing, or not needed"),
    ("cables", change("of", to="links"), "of 'links' is not cables, lanes, switches or given"),
    ("cables", change(*FAILED, "channels", 0, to=0), f"what fails in {NAME!r} is not made of cables"),
    ("cables", change(*FAILED, "channels", 1, to=14), f"what fails in {NAME!r} is not made of cables"),
    ("cables", change(*FAILED, "channels", 1, to=26), f"what fails in {NAME!r} is not made of cables"),
    ("cables", change(*FAILED, "channels", to=lambda all: [0, 8, *all[2:]]), f"what fails in {NAME!r} is not made of"),
    ("given", change(*FAILED, "channels", to=lambda all: [*all[:-1], 9]), "is not made of cables between switches"),
    ("given", change(*FAILED, "nodes", 0, to=0), "is not made of cables between switches and of switches"),
    (
        "given",
        both(change(*FAILED, "nodes", to=[13, 13]), change(*FAILED, "first_node", to=[0, 2])),
        "is not made of cables between switches and of switches",
    ),
    (
        "given",
        both(change(*FAILED, "channels", to=lambda all: all + all[:1]), change(*FAILED, "first_channel", to=[0, 11])),
        "is not made of cables between switches and of switches",
    ),
    ("cables", only_row, "8 rows where one failure is given"),
    ("cables", drop, "1 cables are missing"),
    ("cables", repeat, "a failure is listed twice"),
    ("cables", change("of", to="switches"), "6 switches are missing"),
    ("cables", change(*FIRST, "failed", to=NAME[:-1] + "9"), "is not the name of what fails"),
    ("cables", change(*FAILED, "channels", to=lambda all: [all[1], all[0], *all[2:]]), "is not the name of what fails"),
    ("switches", change(*FIRST, "failed", to="switch((9),0)"), "'switch((9),0)' is not the name of what fails"),
    (
        "switches",
        change(*FAILED, "channels", to=lambda all: [*all[2:4], *all[:2], *all[4:]]),
        "is not the name of what fails",
    ),
    ("switches", change(*FAILED, "channels", to=lambda all: [all[1], all[0], *all[2:]]), "is not the name of what"),
    ("lanes", turn_around, "is not the name of what fails"),
    ("given", change(*FIRST, "failed", to="switch((1),0)"), "'switch((1),0)' is not the name of what fails"),
    ("cables", swap, "the rows are not in the order of their ranks"),
    ("cables", change(*FIRST, "alike", to=2), "a row stands for several failures"),
    ("cables", change(*FIRST, "pairs_lost", to=7), f"{NAME}: 6, claimed 7"),
    ("cables", change("before", "missing", to=1), "before: 0, claimed 1"),
    ("cables", change(*FIRST, "deadlock", to=True), f"{NAME}: claimed True"),
    ("cables", change("before", "deadlock", to=True), "before: claimed True"),
    ("cables", change(*PROOF, "witness", 1, to=-1), f"{NAME}: there is no witness"),
    ("cables", change(*WITNESSES, "permutation", 8, to=0), f"{NAME}: the witness is not a permutation"),
    ("cables", change(*FIRST, "channel_load", to=exact("4")), f"{NAME}: the witness loads channel 19 by 3, claimed 4"),
    ("cables", change("before", "channel_load", to=exact("3")), "before: the witness loads channel 10 by 2, claimed 3"),
    ("cables", change(*FIRST, "channel", to="nowhere"), f"{NAME}: channel 19 is not 'nowhere'"),
    ("engine", tables(cut), ": 2, claimed 0"),
    # All else of these holds: leaf 1 forwards for host 0 by the cable at leaf 0, and a packet that stays sends twice.
    ("engine", tables(beamed), "tables: a channel does not leave its switch"),
    ("cables", change(*WITNESSES, "permutation", 2, to=2), "before: the witness is not a permutation"),
]


@pytest.mark.parametrize(("of", "forge", "why"), ALONE, ids=[f"{of}-{why}" for of, _, why in ALONE])
def test_each_part_is_refused_by_its_own_check(of: str, forge: Forge, why: str, tmp_path: Path) -> None:
    subject, claim = honest(of).subject, json.loads(json.dumps(honest(of).to_dict()))
    forge(claim)
    fits = claim["certificate"] is not None
    (said,) = reasons(claim, tmp_path / "forged.json", digest=fits, topology=subject.topology, routing=subject)
    assert why in said


@pytest.mark.parametrize("of", ["cables", "lanes", "switches", "given", "engine", "prices"])
def test_what_is_forged_is_proved(of: str, tmp_path: Path) -> None:
    subject, claim = honest(of).subject, json.loads(json.dumps(honest(of).to_dict()))
    assert reasons(claim, tmp_path / "claim.json", topology=subject.topology, routing=subject) == []


def test_there_are_no_closed_claims_of_the_failures_of_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no closed claims of the failures of tables"):
        obliv.verify(honest(), close=tmp_path / "closed.txt")
    assert not (tmp_path / "closed.txt").exists()


# Routings and networks that are not what they say, under a claim that is genuine.


def liar(**parts: Any) -> Change:
    """A routing with descriptions as given, each a function of the genuine one."""

    def make(routing: Any) -> Any:
        return type("Liar", (obliv.Routing,), {key: to(routing) for key, to in parts.items()})(routing.topology, "liar")

    return make


def by_path(*ways: Any) -> Change:
    """The paths of a routing, but for those of host 0 to host 7."""

    def of(routing: Any) -> Any:
        return lambda self, s, d: [(way, 1) for way in ways] if (s, d) == (0, 7) else list(routing.paths(s, d))

    return liar(paths=of)


def by_next(to: Callable[[Any, Any], Any]) -> Change:
    """The next channels of a routing, changed by a function of nodes and channels."""

    def of(routing: Any) -> Any:
        def describe(self: Any) -> Any:
            hops = find(routing, NextHops)
            return (hops._replace(next_channels=lambda node, end: to(node, hops.next_channels(node, end))),)

        return describe

    return liar(describe=of)


def other(kept: tuple[str, ...] = (), **arrays: Any) -> Change:
    """A routing on a network of which some parts differ."""

    def make(routing: Any) -> Any:
        network = copy.copy(routing.topology)
        for key, value in arrays.items():
            object.__setattr__(network, key, value(network))
        moved = copy.copy(routing)
        moved.topology = network
        return moved

    return make


def without_host_3(node: Any, channel: Any) -> Any:
    """The last leaf does not forward packets for host 3; no figure of the claim depends on them."""
    return np.where((node == 11) & (np.arange(len(channel)) == 3), -1, channel)


def two_cables(network: Any) -> Any:
    """Host 1 has no cable, and host 0 has two."""
    tail = network.tail.copy()
    tail[1] = 0
    return tail


def no_way_back(claim: Claim) -> None:
    """Leave out the cable of channels 10 and 24, of the fourth row."""
    proof = claim["certificate"]
    del claim["rows"][3], proof["witness"][4], proof["failed"]["channels"][6:8]
    proof["failed"]["first_channel"] = proof["failed"]["first_channel"][:-1]
    del proof["failed"]["first_node"][0]


def quarter(claim: Claim) -> None:
    """Divide all loads by four."""
    for figures in (claim["before"], *claim["rows"]):
        figures["channel_load"] = exact(Fraction(figures["channel_load"]["exact"]) / 4)


def faster_inside(network: Any) -> Any:
    """All channels are four times as fast, but for those that leave hosts."""
    return tuple(Fraction(1 if host else 4) for host in network.number_of[network.tail] >= 0)


def nothing(claim: Claim) -> None:
    """Change nothing."""


LIARS: list[tuple[str, Forge, Change, str]] = [
    ("cables", nothing, other(injection=lambda network: (2,) * 8), "terminals have rates"),
    ("cables", nothing, other(tail=two_cables), "terminals must have one cable each, to a switch"),
    (
        "cables",
        no_way_back,
        other(opposite=lambda network: lambda c: -1 if c in (10, 24) else type(network).opposite(network, c)),
        "channel 10 has no opposite that belongs to the same cable",
    ),
    ("cables", quarter, other(bandwidth=faster_inside), "before: a terminal that reaches another one fills its own"),
    ("switches", nothing, by_next(lambda node, channel: channel * 0 + 99), "is not a channel that leaves it"),
    ("switches", nothing, by_next(lambda node, channel: channel * 0 - 2), "is not a channel that leaves it"),
    ("switches", nothing, by_next(lambda node, channel: channel * 0 + 8), "is not a channel that leaves it"),
    ("switches", nothing, by_next(lambda node, channel: channel * 0 - 1), "packets of some pairs do not arrive before"),
    ("cables", nothing, by_next(without_host_3), "packets of some pairs do not arrive before a failure"),
    ("switches", nothing, by_path(), "liar has 0 paths from host(0,0) to host(3,1)"),
    ("switches", nothing, by_path((0, 10, 27, 21), (0, 11, 31, 21)), "liar has 2 paths from host(0,0) to host(3,1)"),
    ("switches", nothing, by_path(()), "the path from host(0,0) to host(3,1) does not lead there"),
    ("switches", nothing, by_path((0, 10, 27, 99)), "the path from host(0,0) to host(3,1) does not lead there"),
    ("switches", nothing, by_path((0, 10, 27, -11)), "the path from host(0,0) to host(3,1) does not lead there"),
    ("switches", nothing, by_path((1, 10, 27, 21)), "the path from host(0,0) to host(3,1) does not lead there"),
    ("switches", nothing, by_path((0, 10, 27, 20)), "the path from host(0,0) to host(3,1) does not lead there"),
    ("switches", nothing, by_path((0, 10, 31, 21)), "the path from host(0,0) to host(3,1) has a gap"),
    ("switches", nothing, by_path((0, 10, 0, 21)), "the path from host(0,0) to host(3,1) has a gap"),
    ("cables", nothing, by_path((0, 10, 27, 21)), "packets are not forwarded by their destination alone"),
]


@pytest.mark.parametrize(("of", "forge", "make", "why"), LIARS, ids=[f"{of}-{why}" for of, _, _, why in LIARS])
def test_each_part_of_a_routing_is_refused_by_its_own_check(
    of: str, forge: Forge, make: Change, why: str, tmp_path: Path
) -> None:
    routing, claim = make(honest(of).subject), json.loads(json.dumps(honest(of).to_dict()))
    forge(claim)
    (said,) = reasons(claim, tmp_path / "claim.json", topology=routing.topology, routing=routing)
    assert why in said


def test_a_lower_load_fails_by_its_channels_too(tmp_path: Path) -> None:
    claim = copy.deepcopy(honest().to_dict())
    lower(claim)
    claim["before"]["channel_load"] = {"exact": "3/2", "value": 1.5}
    assert "digest" in {c.check for c in checked(claim, honest().subject, tmp_path, digest=False).checks if not c.ok}
    failed = {check.check for check in checked(claim, honest().subject, tmp_path).checks if check.ok is False}
    assert {"witness", "channels"} <= failed


def test_what_is_wrong_stays_wrong_when_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, checks = copy.deepcopy(honest().to_dict()), list[TimeLimit]()
    change("before", "missing", to=1)(claim)

    def check(limit: TimeLimit) -> None:
        checks.append(limit)
        if len(checks) > 1:
            raise OutOfTimeError

    monkeypatch.setattr(TimeLimit, "check", check)
    verdicts = {check.check: check.ok for check in checked(claim, honest().subject, tmp_path).checks}
    assert (verdicts["lost pairs"], verdicts["failures"]) == (False, None)


def test_routes_that_may_block_have_no_layers() -> None:
    """Their channels would rise without end."""
    blocking, safe = (from_routing(obliv.routing("shortest", obliv.topology(spec))) for spec in ("ring:5", "line:3"))
    assert routes_of(hops_of(safe)).layer is not None
    routes = routes_of(hops_of(blocking))
    assert routes.has_credit_loop()
    assert routes.layer is None
