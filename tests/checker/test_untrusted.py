"""Claims that nobody vouches for: limits of time, memory and files hold from the first byte, also in Python."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.claims import save_claim

import obliv
from obliv._util import files
from obliv.cli import main
from obliv.specs import untrusted

#: What a claim of a kilobyte can name: days of work, or more than a machine has.
ENDLESS: dict[str, dict[str, str]] = {
    "trees": {"routing": "raecke:trees=1000000000"},
    "linear program": {"topology": "torus:20x20", "routing": "2turn"},
    "nodes": {"topology": "mesh:2000x2000"},
    "levels": {"topology": "random-leveled:L=100000,W=10000", "routing": "shortest"},
    "memory": {"topology": "hypercube:25", "routing": "valiant"},
    "links": {"topology": "random-regular:n=2000000,d=60,seed=1", "routing": "ecmp"},
    "parts": {"routing": "+".join(["1/30000*dor"] * 30000)},
}
SECONDS = 1.0
SLACK = 20.0  # a busy machine; without limits these take minutes to days


def content_of(routing: str = "dor", topology: str = "mesh:4x4") -> dict[str, Any]:
    return json.loads(json.dumps(obliv.worst_case(topology, routing, certificate=True).to_dict()))  # type: ignore[no-any-return]


def in_time(call: Callable[[], Any]) -> Any:
    """The value of a call, or its error, which is a line; it ends in time."""
    began = time.monotonic()
    try:
        return call()
    except obliv.OblivError as error:
        assert "\n" not in str(error)
        assert len(str(error)) <= 300
        return error
    finally:
        assert time.monotonic() - began < SECONDS + SLACK


@pytest.mark.parametrize("what", ENDLESS)
def test_no_claim_takes_more_time_than_its_budget(what: str, tmp_path: Path) -> None:
    path = save_claim(content_of() | ENDLESS[what], tmp_path / "claim.json")
    loaded = in_time(lambda: obliv.load(path))
    for claim in (path, loaded):
        checked = in_time(lambda claim=claim: obliv.verify(claim, budget=SECONDS))  # type: ignore[misc]
        assert isinstance(checked, obliv.OblivError) or not checked.proved
    assert isinstance(in_time(lambda: obliv.explain(path, 0, budget=SECONDS)), obliv.OblivError)


@pytest.mark.parametrize("what", ["trees", "nodes"])
def test_no_lottery_takes_more_time_than_its_budget(what: str, tmp_path: Path) -> None:
    content = json.loads(json.dumps(obliv.lottery("fattree:4,2", "shift:2").to_dict()))
    change = {"topology": "mesh:2000x2000"} if what == "nodes" else {"flows": 10**9, "topology": "fattree:64,2"}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(content | change))
    checked = in_time(lambda: obliv.verify(path, budget=SECONDS))
    assert isinstance(checked, obliv.OblivError) or not checked.proved


def test_a_report_and_a_notebook_end_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair")
    from obliv.view.report.charts import bundle

    bundle()  # which every report needs
    path = save_claim(content_of() | ENDLESS["trees"], tmp_path / "claim.json")
    page = tmp_path / "report.html"
    in_time(lambda: obliv.view.write_report(path, page, budget=SECONDS))
    assert "the time limit" in page.read_text(encoding="utf-8")
    from obliv.view.interactive import fragment

    monkeypatch.setattr(fragment, "_SECONDS", SECONDS)
    assert "The network is not drawn: the time limit" in in_time(lambda: obliv.load(path)._repr_html_())


def test_the_verdict_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save_claim(content_of() | ENDLESS["trees"], tmp_path / "claim.json")
    assert main(["verify", str(path), "--budget", "1"]) == 1
    told = capsys.readouterr()
    assert "not proved" in told.out
    assert "time limit" in told.out
    assert told.err == ""
    assert main(["verify", str(path), "--channel", "0", "--budget", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_new_python_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes cannot be copied."""
    monkeypatch.setattr(untrusted, "_COPIES", False)
    content = content_of()
    path = save_claim(content, tmp_path / "claim.json")
    assert obliv.verify(path).proved
    assert obliv.explain(path, 1).holds
    save_claim(content | ENDLESS["trees"], path)
    monkeypatch.setattr(untrusted, "_START", "import time; time.sleep(60)")
    assert not in_time(lambda: obliv.verify(path, budget=-4.0)).proved
    monkeypatch.setattr(untrusted, "_START", "import os; os.abort()")
    with pytest.raises(obliv.TooLargeError, match="more memory than is free"):
        obliv.verify(path)
    (tmp_path / "secret").write_text("a b\nroot:x:0 0\n")
    monkeypatch.undo()
    monkeypatch.setattr(untrusted, "_COPIES", False)
    save_claim(content_of() | {"topology": "file:/etc/hostname"}, path)
    with pytest.raises(obliv.FileError, match="may not be read from here"):
        obliv.verify(path)


def test_what_was_registered_here_is_known(tmp_path: Path) -> None:
    """A process of its own has what this one registered, and an error in it is told as here."""

    @obliv.register_routing("half-broken")
    class HalfBroken(obliv.DOR):
        def next_hops(self, node: int, destination: int) -> Any:
            raise RuntimeError("gives up")

        paths = next_hops

    path = save_claim(content_of() | {"routing": "half-broken"}, tmp_path / "claim.json")
    with pytest.raises(RuntimeError, match="gives up"):
        obliv.verify(path)


SECRET = "root:x:0:0:root:/root:/bin/bash\nroot:$6$salt$hash:19000:0:99999:7:::\n"


@pytest.fixture
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a claim, the current one, and a file beside it that the claim has no business with."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "shadow").write_text(SECRET)
    (tmp_path / "claims" / "link").symlink_to(tmp_path / "shadow")
    (tmp_path / "claims" / "own").write_text(SECRET)
    monkeypatch.chdir(tmp_path / "claims")
    return tmp_path


FILES = [f"{kind}:{place}" for kind in ("file", "fabric") for place in ("../shadow", "ABSOLUTE", "link", "own")]
FILES += [f"table:{place}" for place in ("../shadow", "link", "own")] + ["design:../shadow"]


@pytest.mark.parametrize("spec", FILES)
def test_a_claim_reads_no_file_elsewhere_and_quotes_none(
    spec: str, apart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec.replace("ABSOLUTE", str(apart / "shadow"))
    key = "routing" if spec.startswith(("table", "lft", "design")) else "topology"
    path = save_claim(content_of() | {key: spec}, Path("claim.json"))
    allowed = spec.endswith("own")
    for words in (["verify", str(path)], ["verify", str(path), "--channel", "0"]):
        assert main(words) == 2
        told = capsys.readouterr()
        assert ("may not be read from here" in told.err) is not allowed
        assert told.err.count("\n") == 1
        assert not any(word in told.out + told.err for word in ("x:0:", "bash", "salt", "19000"))
    with pytest.raises(obliv.InputError) as error:
        obliv.verify(obliv.load(path))
    assert "x:0:" not in str(error.value)


def test_files_of_the_claims_folder_and_those_that_the_user_allows(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "claims").mkdir()
    (tmp_path / "nets" / "ring.txt").write_text("a b\nb c\nc d\nd a\n")
    monkeypatch.chdir(tmp_path)
    result = obliv.worst_case("file:nets/ring.txt", "ecmp", certificate=True)
    result.save("here.json")
    result.save("claims/there.json")
    assert obliv.verify("here.json").proved
    with pytest.raises(obliv.FileError, match=r"may not be read from here: name it, or its folder, by files"):
        obliv.verify("claims/there.json")
    for allowed in ("nets", Path("nets/ring.txt"), ["claims", "nets"]):
        assert obliv.verify("claims/there.json", files=allowed).proved
    assert obliv.explain("claims/there.json", 0, files="nets").holds
    assert obliv.verify("claims/there.json", topology="file:nets/ring.txt").proved  # the user names it
    assert main(["verify", "claims/there.json", "--files", "nets"]) == 0
    assert files._readable is None  # this process reads what it did before


def test_errors_of_a_file_that_may_be_read_come_without_its_lines(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.graphml").write_text("<graphml><secret>root:x</secret>")
    path = save_claim(content_of() | {"topology": "file:net.graphml"}, tmp_path / "claim.json")
    with pytest.raises(obliv.FileError, match=r"cannot be used with the file that it names, 'net.graphml'") as error:
        obliv.verify(path)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("name", ["me\u0455h:4x4", "mesh\u202e:4x4", "square\n  verdict proved", "m\x1b[2Jesh"])
def test_a_network_inside_is_named_by_what_it_is(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = obliv.build("own", 3, [(0, 1), (1, 2), (2, 0)])
    content = json.loads(json.dumps(obliv.worst_case(network, "shortest", certificate=True).to_dict()))
    path = save_claim(content | {"topology": name}, tmp_path / "claim.json")
    checked = obliv.verify(path)
    assert checked.proved
    assert checked.topology.startswith("network ")
    assert checked.topology.endswith(f"(3 nodes, 3 channels, 3 terminals) called {name!a}")
    other = obliv.verify(save_claim(content | {"topology": "another"}, path))
    assert other.topology.split("(")[0] == checked.topology.split("(")[0]  # the digest is that of the network
    main(["verify", str(save_claim(content | {"topology": name}, path))])
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.splitlines()[0].startswith("verification: shortest on network ")
    assert obliv.explain(path, 0).topology == checked.topology


def bomb(path: Path, text: bytes, times: int) -> Path:
    with gzip.open(path, "wb", 9) as stream:
        for _ in range(times):
            stream.write(text)
    return path


def test_limits_count_decompressed_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of some kilobytes that holds more than may be read, or lists that take more than is free."""
    monkeypatch.setattr(files, "_LARGEST", 2**22)
    large = bomb(tmp_path / "large.json.gz", b'{"a": "' + b" " * 2**16, 100)
    assert os.path.getsize(large) < 2**16
    nested = bomb(tmp_path / "nested.json.gz", b"[[],[],[],[],[],[],[],[]" * 2**8, 300)
    for path, free in ((large, 2.0**34), (nested, 2.0**26)):
        monkeypatch.setattr("obliv._util.cost.free_memory", lambda free=free: free)
        for call in (obliv.load, obliv.verify):
            error = in_time(lambda call=call, path=path: call(path))  # type: ignore[misc]
            assert isinstance(error, obliv.InputError)
            assert "holds more than" in str(error) or "would need about" in str(error)


@pytest.mark.parametrize(
    "change",
    [
        {"exactness": "exact, proved by obliv verify"},
        {"exactness": "VERIFIED"},
        {"exactness": "exact\nverdict proved"},
        {"exactness": "x" * 10**6},
        {"version": "9.9 <script>"},
        {"version": "1" * 10**6},
        {"version": None},
    ],
)
def test_provenance_says_nothing_else(change: dict[str, Any], tmp_path: Path) -> None:
    content = content_of()
    content["provenance"] |= change
    path = save_claim(content, tmp_path / "claim.json")
    assert isinstance(in_time(lambda: obliv.load(path)), obliv.FileError)
    in_time(lambda: obliv.verify(path))


def test_a_saved_verification_is_a_record(tmp_path: Path) -> None:
    checked = obliv.verify(obliv.worst_case("mesh:3x3", "dor", certificate=True))
    checked.save(tmp_path / "v.json")
    loaded = obliv.load(tmp_path / "v.json")
    assert loaded == checked
    for text in (repr(loaded), loaded._repr_html_()):
        assert "proved" not in text
        assert "not checked here" in text
