"""Files behind a claim: what is checked is what was read, also if a file is replaced meanwhile."""

from __future__ import annotations

import builtins
import hashlib
import io
import json
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from tests.claims import save_claim

import obliv
from obliv._util.files import reading_from
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_routing
from obliv.specs import untrusted

RING = "a b\nb c\nc d\nd e\ne f\nf a\n"
CHORD = RING + "a d\n"


def _table(step: int) -> str:
    return "".join(f"hop {v} {d} {(v + step) % 5}\n" for v in range(5) for d in range(5) if v != d)


def _networks() -> tuple[str, str, str, str]:
    return "file:swapped.txt", "ecmp", CHORD, RING


def _tables() -> tuple[str, str, str, str]:
    return "ring:5", "table:swapped.txt", _table(1), _table(-1)


def _designs() -> tuple[str, str, str, str]:
    obliv.design("mesh:3x2").save("design.json")
    text = Path("design.json").read_text()
    return "mesh:3x2", "design:swapped.txt", text, text + " "


def _forwarding() -> tuple[str, str, str, str]:
    routing = from_routing(obliv.routing("dmodk", obliv.topology("fattree:4,2")))
    write_net(routing.topology.fabric, "f.net")
    write_tables(routing.routes.tables, routing.topology.fabric, "f.lfts")
    text = Path("f.lfts").read_text()
    return "fabric:f.net", "lft:swapped.txt", text, text + "\n"


@pytest.mark.parametrize("files", [_networks, _tables, _designs, _forwarding])
def test_a_file_that_is_replaced_after_it_was_read(
    files: Callable[[], tuple[str, str, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that is true of one file is not proved under the digest of another, which is there at a second look."""
    monkeypatch.chdir(tmp_path)
    network, routing, here, later = files()
    assert here != later
    swapped = Path("swapped.txt")
    swapped.write_text(here)
    result = obliv.worst_case(obliv.routing(routing, obliv.topology(network)), certificate=True)
    claim: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    claim["certificate"]["sources"]["swapped.txt"] = hashlib.sha256(later.encode()).hexdigest()
    save_claim(claim, Path("claim.json"))
    plain, reads = io.open, []

    def replacing(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file) == "swapped.txt":
            if reads:
                with plain("swapped.txt", "w") as stream:
                    stream.write(later)
            reads.append(file)
        return plain(file, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(io, "open", replacing)
        patch.setattr(builtins, "open", replacing)
        patch.setattr(untrusted, "_within", ContextVar("within", default=True))  # in this process, which has `reads`
        report = obliv.verify("claim.json")
    assert reads
    assert not report.proved
    assert ("source file", False) in {(step.check, step.ok) for step in report.checks} or len(reads) > 1


def test_a_claim_without_the_digest_of_its_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ring.txt").write_text(RING)
    content = obliv.worst_case("file:ring.txt", "ecmp", certificate=True).to_dict()
    content["certificate"]["sources"] = {}
    checks = obliv.verify(save_claim(content, tmp_path / "claim.json")).checks
    assert [step.detail for step in checks if not step.ok] == ["ring.txt has no SHA-256 in the claim"]


def unread(content: dict[str, Any]) -> None:
    del content["certificate"]["network"]
    content["topology"] = "file:net.graphml"


def unknown(content: dict[str, Any]) -> None:
    del content["certificate"]["network"]
    content |= {"topology": "file:ring.txt", "routing": "nonsense"}


def other_terminals(content: dict[str, Any]) -> None:
    content["certificate"]["network"]["terminals"] = [99, 0]


@pytest.mark.parametrize("forge", [unread, unknown, other_terminals])
def test_errors_that_files_cause_are_not_those_of_the_claim(
    forge: Callable[[dict[str, Any]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of the claim itself may quote it; one that a file caused would quote the file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(untrusted, "_within", ContextVar("within", default=True))
    Path("ring.txt").write_text(RING)
    Path("net.graphml").write_text("<graphml><secret>root:x</secret>")
    part = obliv.topology("file:ring.txt").with_terminals([0, 1])
    content = json.loads(json.dumps(obliv.worst_case(obliv.ECMP(part), certificate=True).to_dict()))
    forge(content)
    path = save_claim(content, tmp_path / "claim.json")
    with reading_from([tmp_path]):
        with pytest.raises(ValueError) as error:
            obliv.verify(path)
        assert "with the file that it names" in str(untrusted.unquoted(error.value, path))
