"""A missing or old solver, one that fails, and programs that are large: one clear line each."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
import tracemalloc
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import highspy
import pytest

import obliv
from obliv._util import progress as cost
from obliv.cli import main
from obliv.designs import programme
from obliv.designs.programme import symmetry_of

COMMANDS = [
    ["design", "mesh:3x2"],
    ["bounds", "mesh:3x3"],
    ["ratio", "mesh:3x2", "dor"],
    ["ratio", "mesh:3x2", "dor", "--traffic", "transpose"],
    ["ratio", "mesh:2x2", "dor", "--traffic", "transpose"],
]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let interrupts be raised as Python does, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def failed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a command prints when it fails."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.strip().splitlines()
    return line


@pytest.mark.parametrize("command", [*COMMANDS[:3], COMMANDS[4]])
def test_no_solver(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert "this needs highspy: install it with uv sync --extra design" in failed(command, capsys)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_solver_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The extension cannot be imported then, and forgets why."""

    def interrupted(name: str) -> ModuleType:
        if name != "highspy":
            return import_module(name)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise ImportError(name)

    monkeypatch.setattr("obliv.designs.solver.importlib.import_module", interrupted)
    assert main(COMMANDS[1]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS[:3])
def test_an_old_solver(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Old(highspy.Highs):  # type: ignore[misc]
        def setOptionValue(self, name: str, value: object) -> object:
            known = name not in ("kkt_tolerance", "threads")
            return super().setOptionValue(name, value) if known else highspy.HighsStatus.kError

    monkeypatch.setattr(highspy, "Highs", Old)
    assert "this needs highspy 1.15 or later" in failed(command, capsys)


def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither the solver itself, from 1.16 on as soon as it is made, nor its Python part."""
    assert main(["design", "ring:3", "--format", "json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["kind"] == "design"
    assert not err


def test_a_solver_that_lacks_what_is_used(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr(highspy, "MatrixFormat")
    assert "this needs highspy 1.15 or later" in failed(COMMANDS[0], capsys)


@pytest.mark.parametrize("call", ["run", "passModel"])
@pytest.mark.parametrize("command", COMMANDS[:3])
def test_a_solver_that_fails(
    command: list[str], call: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(highspy.Highs):  # type: ignore[misc]
        pass

    setattr(Broken, call, lambda self, *given: highspy.HighsStatus.kError)
    monkeypatch.setattr(highspy, "Highs", Broken)
    assert "the solver failed" in failed(command, capsys)


def test_a_solver_that_raises(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(highspy.Highs):  # type: ignore[misc]
        def run(self) -> object:
            raise RuntimeError("it broke")

    monkeypatch.setattr(highspy, "Highs", Broken)
    assert "the solver failed: it broke" in failed(COMMANDS[0], capsys)


def test_the_size_is_said_before_long_work() -> None:
    """A solver does not say how far it is."""
    for call in (obliv.design, lambda spec, progress: obliv.design(spec, objective="ratio", progress=progress)):
        heard: list[str] = []
        call("mesh:3x3", progress=lambda what, share, heard=heard: heard.append(what))
        assert any(re.fullmatch(r"linear program, (up to )?[\d,]+ rows", what) for what in heard), heard


@pytest.mark.parametrize(("nodes", "memory"), [(60, 2.0**20), pytest.param(300, 2.0**24, marks=pytest.mark.nightly)])
def test_what_cannot_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], nodes: int, memory: float
) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**24)
    line = failed(["design", "mesh:12x12"], capsys)
    assert "would need about" in line
    assert "linear program" in line
    monkeypatch.setattr(cost, "free_memory", lambda: memory)
    ratio = ["ratio", f"random-regular:n={nodes},d=8,seed=1", "shortest", "--traffic", "uniform"]
    assert "would need about" in failed(ratio, capsys)


@pytest.mark.nightly
def test_bounds_leave_out_what_cannot_fit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda: 2.0**24)
    assert main(["bounds", "random-regular:n=300,d=8,seed=1"]) == 0
    assert (
        "oblivious       - (the linear program does not fit in memory or in the time limit)" in capsys.readouterr().out
    )


@pytest.mark.parametrize("spec", ["mesh:4x4", "torus:5x5", "kautz:2,3", "hypercube:3"])
def test_the_size_is_counted(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = obliv.topology(spec)
    messages: list[str] = []
    monkeypatch.setattr(programme, "require_memory", lambda size, what: messages.append(what))
    built = programme.worst_case_programme(network, symmetry_of(network))
    said = [int(word.replace(",", "")) for word in re.findall(r"[\d,]+(?= rows| columns| non-zeros)", messages[-1])]
    assert said[:2] == [pytest.approx(size, rel=0.05) for size in built.matrix.shape]
    assert built.matrix.nnz * 0.95 <= said[2] <= built.matrix.nnz * 1.15  # flows of a pair may share an entry


@pytest.mark.parametrize(
    ("spec", "minimal"), [("mesh:5x5", False), ("mesh:5x5", True), ("torus:6x6", True), ("kautz:2,3", False)]
)
def test_what_fits_is_not_refused(spec: str, minimal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little more memory than what the arrays and the solver take is enough."""
    network = obliv.topology(spec)
    symmetry = symmetry_of(network)
    programme.worst_case_programme(network, symmetry, minimal=minimal)  # compiles
    tracemalloc.start()
    built = programme.worst_case_programme(network, symmetry, minimal=minimal)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(cost, "free_memory", lambda: 1.3 * max(peak, programme._BYTES * built.matrix.nnz))
    programme.worst_case_programme(network, symmetry, minimal=minimal)
    monkeypatch.setattr(cost, "free_memory", lambda: 0.5 * programme._BYTES * built.matrix.nnz)
    with pytest.raises(obliv.errors.TooLargeError, match="linear program"):
        programme.worst_case_programme(network, symmetry, minimal=minimal)
