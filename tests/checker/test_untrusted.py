"""Claims that nobody vouches for: limits of time, memory and files hold from the first byte, also in Python."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.claims import save_claim

import obliv
from obliv._util import files
from obliv._util.progress import IDLE
from obliv.cli import main
from obliv.specs import untrusted
from obliv.specs.registry import DEFINED

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
SECONDS = 0.2
SLACK = 20.0  # a busy machine; without limits these take minutes to days


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are killed sooner after their time than those of users."""
    monkeypatch.setattr(untrusted, "GRACE", SECONDS)


def is_late(checked: Any) -> bool:
    """Whether the answer is that the network and the routing were not built in time."""
    return isinstance(checked, obliv.Verification) and [(c.check, c.ok) for c in checked.checks] == [("time", None)]


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
    refused = {"memory": obliv.TooLargeError, "links": obliv.TooLargeError, "parts": obliv.FileError}.get(what)
    seconds = 10.0 if refused else SECONDS  # it takes a moment to see that something does not fit
    explained = in_time(lambda: obliv.explain(path, 0, budget=seconds))
    for claim in (path, loaded):
        checked = in_time(lambda claim=claim: obliv.verify(claim, budget=seconds))  # type: ignore[misc]
        if refused and not (what == "links" and is_late(checked)):  # these fit in a large machine
            assert type(checked) is type(explained) is refused
            assert what != "parts" or "letters" in str(checked)
        else:
            assert is_late(checked)
            assert f"the time limit of {seconds:g} seconds has passed" in str(explained)


@pytest.mark.parametrize("what", ["flows", "nodes"])
def test_no_collisions_takes_more_time_than_its_budget(what: str, tmp_path: Path) -> None:
    content = json.loads(json.dumps(obliv.collisions("fattree:4,2", "shift:2").to_dict()))
    change = {"topology": "mesh:2000x2000"} if what == "nodes" else {"flows": 10**9, "topology": "fattree:64,2"}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(content | change))
    checked = in_time(lambda: obliv.verify(path, budget=SECONDS))
    assert is_late(checked) or (what == "flows" and "not followed" in checked.checks[-1].detail)
    assert checked.verdict == "not proved"


def test_a_report_and_a_notebook_end_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair")
    from obliv.view.report.page import bundle

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
    assert main(["verify", str(path), "--budget", "0.2"]) == 1
    told = capsys.readouterr()
    assert "not proved" in told.out
    assert "time limit" in told.out
    assert told.err == ""
    assert main(["verify", str(path), "--channel", "0", "--budget", "0.2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def run(function: Callable[..., Any], *arguments: Any, new: bool = False, seconds: float = 60.0, **options: Any) -> Any:
    """What `bounded` returns: from a copy of this process, or from a new Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "_copies_safely", lambda: not new)
        patch.setattr(untrusted, "_names_of_others", lambda: ([], set()))  # those of other tests
        return in_time(lambda: untrusted.bounded(function, *arguments, seconds=seconds, files=[], **options))


def words_of(times: int, progress: Callable[[str, float], None]) -> int:
    for k in range(times):
        progress(str(k), k / times)
        time.sleep(0.01)
    return times


def dies(number: int, progress: Any) -> None:
    os.kill(os.getpid(), number)
    os._exit(3)


def hoards(progress: Any) -> None:
    raise MemoryError


COPIES = pytest.mark.skipif(not untrusted._COPIES, reason="processes are copied on Linux only")


@COPIES
def test_a_process_that_reports_all_the_time_is_ended_in_time() -> None:
    """The clock is looked at between messages, which are few, and they do not fill memory."""
    words: list[str] = []
    late = run(words_of, 10**6, seconds=SECONDS, progress=lambda what, share: words.append(what))
    assert isinstance(late, untrusted.TimeOverError)
    assert 0 < len(words) < 2 + SLACK / untrusted._MOMENT


@COPIES
@pytest.mark.parametrize("error", [BrokenPipeError("stderr closed"), EOFError(), KeyboardInterrupt()])
def test_an_error_of_the_users_progress_is_the_users(error: BaseException) -> None:
    def bad(what: str, share: float) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        run(words_of, 10**6, progress=bad)
    assert raised.value is error
    with pytest.raises(ChildProcessError):  # no process is left
        os.waitpid(-1, os.WNOHANG)


@COPIES
@pytest.mark.parametrize(
    ("function", "arguments", "kind", "words"),
    [
        (dies, [0], "CrashedError", "has ended without an answer (exit status 3)"),
        (dies, [getattr(signal, "SIGTRAP", 0)], "CrashedError", "has crashed (SIGTRAP)"),
        (dies, [getattr(signal, "SIGKILL", 0)], "CrashedError", "the system has killed the process"),
        (dies, [getattr(signal, "SIGXCPU", 0)], "TimeOverError", "the time limit of 60 seconds has passed"),
        (hoards, [], "TooLargeError", "this needs more memory than is free"),
    ],
)
def test_each_end_has_its_sentence(function: Any, arguments: list[Any], kind: str, words: str) -> None:
    error = run(function, *arguments)
    assert type(error).__name__ == kind
    assert words in str(error)


def takes(progress: Any) -> str:
    with LOCK:
        return "done"


LOCK = threading.Lock()


def test_a_lock_of_another_thread_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy would wait forever for a lock that a thread held, which is not in it; a thread that waits holds none."""
    monkeypatch.setattr(untrusted, "_names_of_others", lambda: ([], set()))
    end = threading.Event()

    def hold() -> None:
        with LOCK:
            held.set()
            end.wait(SLACK)

    held = threading.Event()
    for name, copied in ((None, False), (f"{IDLE}-test", untrusted._COPIES)):
        held.clear()
        end.clear()
        thread = threading.Thread(target=hold, name=name)
        thread.start()
        held.wait(SLACK)
        assert untrusted._copies_safely() is copied
        if not copied:
            assert in_time(lambda: untrusted.bounded(takes, seconds=SLACK, files=[])) == "done"
        end.set()
        thread.join()


def threads_for(seconds: float, progress: Any) -> str:
    import hashlib

    end, data = time.monotonic() + seconds, bytes(2**22)

    def work() -> None:
        while time.monotonic() < end:
            hashlib.sha256(data).digest()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return "done"


@COPIES
def test_the_system_counts_the_time_of_all_threads_generously(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    def ends(progress: Any) -> int:
        return resource.getrlimit(resource.RLIMIT_CPU)[0]

    assert run(ends, seconds=100.0) >= 200 * (os.cpu_count() or 1)
    assert run(threads_for, 0.3, seconds=10.0) == "done"


WAITS = """
import os, signal, sys, time
from obliv.specs import untrusted
from obliv.specs.registry import DEFINED

def waits(progress):
    open(sys.argv[1] + "/child.part", "w").write(str(os.getpid()))
    os.rename(sys.argv[1] + "/child.part", sys.argv[1] + "/child")
    time.sleep(60)

def told(*_):
    open(sys.argv[1] + "/told", "a").write(f"{os.getpid()}\\n")
    sys.exit(5)

if sys.argv[2] == "SIGINT":
    signal.signal(signal.SIGINT, told)
untrusted.bounded(waits, seconds=60, files=[])
"""


@COPIES
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_no_process_outlives_the_one_that_waits_for_it(name: str, tmp_path: Path) -> None:
    """Not after a signal to all of a terminal either, on which handlers run in the process that waits only."""
    command = [sys.executable, "-c", WAITS, str(tmp_path), name]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as parent:
        until(lambda: (tmp_path / "child").exists())
        child = int((tmp_path / "child").read_text())
        os.killpg(parent.pid, signal.SIGINT) if name == "SIGINT" else parent.send_signal(getattr(signal, name))
        assert parent.wait(SLACK) == (5 if name == "SIGINT" else -getattr(signal, name))
    until(lambda: not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text())
    if name == "SIGINT":
        assert (tmp_path / "told").read_text() == f"{parent.pid}\n"


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + SLACK
    while time.monotonic() < end:
        with suppress(FileNotFoundError):
            if true():
                return
        time.sleep(0.02)
    raise AssertionError("not in time")


def test_a_new_python_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes cannot be copied."""
    monkeypatch.setattr(untrusted, "_COPIES", False)
    monkeypatch.setattr(untrusted, "_names_of_others", lambda: ([], set()))  # those of other tests
    content = content_of()
    path = save_claim(content, tmp_path / "claim.json")
    assert obliv.verify(path).proved
    assert obliv.explain(path, 1).holds
    save_claim(content | ENDLESS["trees"], path)
    assert is_late(in_time(lambda: obliv.verify(path, budget=SECONDS)))
    (tmp_path.parent / "beside").write_text("a b\nroot:x:0 0\n")
    save_claim(content_of() | {"topology": f"file:{tmp_path.parent / 'beside'}"}, path)
    with pytest.raises(obliv.FileError, match="may not be read from here"):
        obliv.verify(path)
    words: list[str] = []
    assert run(words_of, 4, new=True, progress=lambda what, share: words.append(what)) == 4
    assert "0" in words
    monkeypatch.setattr(untrusted, "_START_UP", SECONDS)
    monkeypatch.setattr(untrusted, "_START", "import time; time.sleep(60)")
    assert is_late(in_time(lambda: obliv.verify(path, budget=-4.0)))
    monkeypatch.setattr(untrusted, "_START", "raise SystemExit(3)")
    monkeypatch.setattr(untrusted, "_START_UP", SLACK)
    with pytest.raises(obliv.InputError, match=r"claim.json: .* ended without an answer \(exit status 3\)"):
        obliv.verify(path)


@pytest.mark.parametrize("how", ["copied", "in the main program", "in a function"])
def test_what_was_registered_here_is_known(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has what this one registered, or the work is done here; an error is told, and files are limited."""
    monkeypatch.setattr(untrusted, "_COPIES", how == "copied")
    place = "__main__" if how == "in the main program" else __name__

    name = f"half-broken-{how.split()[-1]}"

    @obliv.register_routing(name)
    class HalfBroken(obliv.DOR):
        """Dimension order that gives up."""

        def next_hops(self, node: int, destination: int) -> Any:
            raise RuntimeError("gives up")

        paths = next_hops

    HalfBroken.__module__ = place
    path = save_claim(content_of() | {"routing": name}, tmp_path / "claim.json")
    with pytest.raises(RuntimeError, match="gives up"):
        obliv.verify(path)
    net = tmp_path.parent / "net.txt"
    net.write_text("root x:0:0\nalice b\n")
    save_claim(content_of() | {"topology": f"file:{net}", "routing": "ecmp"}, path)
    with pytest.raises(obliv.FileError, match="may not be read from here"):
        obliv.verify(path)
    net.rename(tmp_path / "net.txt")
    save_claim(content_of() | {"topology": f"file:{tmp_path / 'net.txt'}", "routing": "ecmp"}, path)
    with pytest.raises(obliv.FileError, match="with the file that it names") as error:
        obliv.verify(path)
    assert "alice" not in str(error.value)
    assert files._readable is None
    assert files.files_read() == []  # later errors quote what they quoted before
    HalfBroken.__module__ = __name__


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


def test_files_of_the_claims_folder_and_those_that_the_user_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "claims").mkdir()
    (tmp_path / "nets" / "ring.txt").write_text("a b\nb c\nc d\nd a\n")
    monkeypatch.chdir(tmp_path)
    result = obliv.worst_case("file:nets/ring.txt", "ecmp", certificate=True)
    result.save("here.json")
    result.save("claims/there.json")
    assert obliv.verify("here.json").proved
    with pytest.raises(obliv.FileError, match=r"here: allow it, or its folder, with files=PATH; the path"):
        obliv.verify("claims/there.json")
    assert main(["verify", "claims/there.json"]) == 2
    assert "here: allow it, or its folder, with --files PATH; the path" in capsys.readouterr().err
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
        monkeypatch.setattr("obliv._util.progress.free_memory", lambda free=free: free)
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


def test_a_file_that_was_imported_and_is_gone_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A new Python cannot run it again; nothing of it is needed here."""
    monkeypatch.setattr(untrusted, "_COPIES", False)
    monkeypatch.setitem(DEFINED, "Mine", "gone.py")
    assert obliv.verify(save_claim(content_of(), tmp_path / "claim.json")).proved
    assert capfd.readouterr().err == ""
