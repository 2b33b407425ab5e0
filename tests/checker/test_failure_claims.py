"""Claims about failures: honest ones are proved, forged ones refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fabric.outages import fabrics

import obliv
from obliv._util.files import digest_of, pack, unpack_array, write_json
from obliv.checker.report import OutOfTimeError, TimeLimit
from obliv.errors import FileError, TooLargeError
from obliv.fabric.generate import from_routing, from_topology
from obliv.fabric.outages.certificate import why_none
from obliv.fabric.outages.every import failures
from obliv.fabric.outages.sets import every_failure
from obliv.fabric.routes.routing import FabricHops

Claim = dict[str, Any]


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
    result = failures(given().subject, of=of, repair="updown", certificate=True)
    assert obliv.verify(result).proved
    assert (result.most_lost > 0) == (of == "switches")
    claim = result.to_dict()
    tables = unpack_array(claim["certificate"]["tables"])
    assert tables.shape == (len(result.failures), 6, 8)
    empty = tables.copy()
    empty[0] = -1
    turned = tables.copy()
    turned[0, 0], turned[0, 1] = tables[0, 1], tables[0, 0]
    failed = checked(_with_tables(claim, empty), result.subject, tmp_path)
    assert "lost pairs" in {check.check for check in failed.checks if check.ok is False}
    for wrong in (turned, tables[1:], tables + 100):
        with pytest.raises(FileError, match="tables"):
            checked(_with_tables(claim, wrong), result.subject, tmp_path)
    short = _with_tables(claim, tables)
    del short["certificate"]["tables"]
    assert "form" in {check.check for check in checked(short, result.subject, tmp_path).checks if check.ok is False}


def _with_tables(claim: Claim, tables: Any) -> Claim:
    changed = copy.deepcopy(claim)
    changed["certificate"]["tables"] = pack(tables)
    return changed


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


def swap_rows(claim: Claim) -> None:
    rows = claim["rows"]
    other = next(k for k, row in enumerate(rows) if row["pairs_lost"] != rows[0]["pairs_lost"])
    rows[0], rows[other] = rows[other], rows[0]


def swap_all(claim: Claim) -> None:
    """Swap two rows of unlike ranks with all that belongs to them."""
    swap_rows(claim)
    rows, proof = claim["rows"], claim["certificate"]
    last = next(k for k, row in enumerate(rows) if row["pairs_lost"] > rows[0]["pairs_lost"])
    channels = proof["failed"]["channels"]  # of one cable each
    channels[0:2], channels[2 * last : 2 * last + 2] = channels[2 * last : 2 * last + 2], channels[0:2]
    witness = proof["witness"]
    witness[1], witness[last + 1] = witness[last + 1], witness[1]


def drop_the_worst(claim: Claim) -> None:
    proof = claim["certificate"]
    del claim["rows"][0], proof["witness"][1], proof["failed"]["channels"][:2]
    proof["failed"]["first_channel"] = [k - 2 for k in proof["failed"]["first_channel"][1:]]
    del proof["failed"]["first_node"][0]


def repeat_the_worst(claim: Claim) -> None:
    claim["rows"][1] = claim["rows"][0]
    claim["certificate"]["failed"]["channels"][2:4] = claim["certificate"]["failed"]["channels"][:2]


def lower(claim: Claim) -> None:
    for row in claim["rows"]:
        row["channel_load"] = {"exact": "3/2", "value": 1.5}


def raise_(claim: Claim) -> None:
    claim["rows"][0]["channel_load"] = {"exact": "4", "value": 4.0}


def put(*path: Any, value: Any) -> Callable[[Claim], None]:
    """Return a change that sets a part of a claim."""

    def change(claim: Claim) -> None:
        part: Any = claim
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value

    return change


FORGERIES: dict[str, tuple[Callable[[Claim], None], str]] = {
    "lower load": (lower, "witness"),
    "higher load": (raise_, "witness"),
    "swapped rows": (swap_rows, "form"),
    "swapped failures": (swap_all, "form"),
    "dropped failure": (drop_the_worst, "form"),
    "repeated failure": (repeat_the_worst, "form"),
    "pairs lost": (put("rows", 0, "pairs_lost", value=400), "lost pairs"),
    "credit loop": (put("rows", 0, "deadlock", value=True), "credit loops"),
    "name": (put("rows", 0, "failed", value="switch((0),1) port 4 - switch((9),0) port 1"), "form"),
    "hottest channel": (put("rows", 0, "channel", value="nowhere"), "witness"),
    "alike": (put("rows", 0, "alike", value=2), "form"),
    "load before": (put("before", "channel_load", value={"exact": "1", "value": 1.0}), "witness"),
    "missing before": (put("before", "missing", value=1), "lost pairs"),
    "no witness": (put("certificate", "witness", 1, value=-1), "witness"),
    "a host's cable fails": (put("certificate", "failed", "channels", 0, value=0), "form"),
    "another kind": (put("of", value="switches"), "form"),
    "an engine": (put("repair", value="updown"), "form"),
    "sources": (put("certificate", "sources", value={"fabric.net": "0" * 64}), "source file"),
}


@pytest.fixture(scope="module")
def honest() -> obliv.results.Failures:
    tables = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    fabric = obliv.fabric.routing(tables.topology, _worse(tables.routes.tables))
    result = failures(fabric, repair="refill", certificate=True)
    assert obliv.verify(result).proved
    assert len({row.pairs_lost for row in result.failures}) > 1
    return result


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


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_claims_are_refused(name: str, honest: obliv.results.Failures, tmp_path: Path) -> None:
    claim = copy.deepcopy(honest.to_dict())
    change, step = FORGERIES[name]
    change(claim)
    result = checked(claim, honest.subject, tmp_path)
    assert step in {check.check for check in result.checks if check.ok is False}, result


def test_a_lower_load_fails_by_its_channels_too(honest: obliv.results.Failures, tmp_path: Path) -> None:
    claim = copy.deepcopy(honest.to_dict())
    lower(claim)
    claim["before"]["channel_load"] = {"exact": "3/2", "value": 1.5}
    assert "digest" in {c.check for c in checked(claim, honest.subject, tmp_path, digest=False).checks if not c.ok}
    failed = {check.check for check in checked(claim, honest.subject, tmp_path).checks if check.ok is False}
    assert {"witness", "channels"} <= failed


def test_what_is_wrong_stays_wrong_when_time_is_over(
    honest: obliv.results.Failures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, checks = copy.deepcopy(honest.to_dict()), list[TimeLimit]()
    put("before", "missing", value=1)(claim)

    def check(limit: TimeLimit) -> None:
        checks.append(limit)
        if len(checks) > 1:
            raise OutOfTimeError

    monkeypatch.setattr(TimeLimit, "check", check)
    verdicts = {check.check: check.ok for check in checked(claim, honest.subject, tmp_path).checks}
    assert (verdicts["lost pairs"], verdicts["failures"]) == (False, None)


@pytest.mark.parametrize(
    "change",
    [
        put("certificate", "witnesses", "permutation", value=[0, 1]),
        put("certificate", "failed", "channels", 0, value=32),  # of the channels 0 to 31
        put("certificate", "failed", "channels", 0, value=-1),
        put("certificate", "failed", "first_channel", value=[0]),
        put("certificate", "witness", value=[[]]),
        put("certificate", "prices", value=None),
        put("certificate", "more", value=1),
        put("rows", value=3),
        put("rows", 0, "channel_load", "value", value=1.0),
    ],
)
def test_malformed_claims_are_refused(
    change: Callable[[Claim], None], honest: obliv.results.Failures, tmp_path: Path
) -> None:
    claim = copy.deepcopy(honest.to_dict())
    change(claim)
    with pytest.raises(FileError, match="is not a complete claim"):
        checked(claim, honest.subject, tmp_path)
