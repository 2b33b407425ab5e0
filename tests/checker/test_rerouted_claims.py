"""Claims about failures after which a routing routes anew: honest ones are proved, forged ones refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import obliv
from obliv._util.files import digest_of, write_json
from obliv.checker.report import OutOfTimeError, TimeLimit
from obliv.cli import main
from obliv.errors import FileError

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


def swap(claim: Claim, rows: bool = True) -> None:
    """Swap the first row with the last, and all that belongs to them if wanted."""
    parts = [claim["rows"]] if rows else [claim["certificate"]["failed"]]
    for part in parts:
        part[0], part[-1] = part[-1], part[0]


def drop(claim: Claim) -> None:
    del claim["rows"][0], claim["certificate"]["failed"][0], claim["certificate"]["claims"][1]


def lower(claim: Claim) -> None:
    """Lower a load in its row and in its claim, whose digest fits again."""
    low = {"exact": "1/2", "value": 0.5}
    inner = claim["certificate"]["claims"][1]
    claim["rows"][0]["channel_load"] = inner["channel_load"] = low
    inner["certificate"]["digest"] = digest_of(inner)


def other(claim: Claim) -> None:
    """Give the first row the claim of another one."""
    claim["certificate"]["claims"][1] = claim["certificate"]["claims"][2]


def put(key: str, value: Any) -> Callable[[Claim], None]:
    def change(claim: Claim) -> None:
        claim["rows"][0][key] = value

    return change


FORGERIES: dict[str, Callable[[Claim], None]] = {
    "swapped rows": swap,
    "swapped failures": lambda claim: swap(claim, rows=False),
    "dropped": drop,
    "lower load": lower,
    "claim of another": other,
    "pairs lost": put("pairs_lost", 30),
    "deadlock": put("deadlock", True),
    "channel": put("channel", "nowhere"),
    "name": put("failed", "link (0,0) - (2,2)"),
    "routing": lambda claim: claim.update(repair="ecmp"),
}


@pytest.fixture(scope="module")
def honest() -> Claim:
    claim = obliv.failures("line:4", "shortest", certificate=True).to_dict()
    assert len({row["pairs_lost"] for row in claim["rows"]}) > 1
    return claim


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_claims_are_refused(name: str, honest: Claim, tmp_path: Path) -> None:
    claim = copy.deepcopy(honest)
    FORGERIES[name](claim)
    claim["certificate"]["digest"] = digest_of(claim)
    write_json(claim, tmp_path / "claim.json")
    assert not obliv.verify(tmp_path / "claim.json").proved


@pytest.mark.parametrize(
    ("key", "value"),
    [("failed", [1]), ("failed", 3), ("claims", [1]), ("claims", 4), ("sources", []), ("prices", [])],
)
def test_malformed_claims_are_refused(key: str, value: Any, honest: Claim, tmp_path: Path) -> None:
    claim = copy.deepcopy(honest)
    claim["certificate"][key] = value
    claim["certificate"]["digest"] = digest_of(claim)
    write_json(claim, tmp_path / "claim.json")
    with pytest.raises(FileError, match="is not a complete claim"):
        obliv.verify(tmp_path / "claim.json")


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
