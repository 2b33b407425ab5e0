"""An interrupt comes after what it would break."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple

import pytest

from obliv._util.progress import admitted, deferred
from obliv.kernels import kernel, run


@pytest.fixture(autouse=True)
def by_default() -> Iterator[None]:
    """Interrupts are raised, also where the tests run in the background of a script."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, handler)
    assert after is signal.default_int_handler


def test_an_interrupt_waits_for_the_end_of_an_import() -> None:
    steps = []

    def interrupted() -> None:
        with deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("imported")

    def elsewhere() -> None:
        with deferred(), admitted():
            steps.append("elsewhere")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ImportError), deferred():
        raise ImportError
    other = threading.Thread(target=elsewhere)
    other.start()
    other.join()
    assert steps == ["imported", "elsewhere"]


@pytest.mark.parametrize("early", [False, True])
def test_an_interrupt_is_admitted_within(early: bool) -> None:
    steps = []

    def interrupted() -> None:
        with deferred():
            if early:
                signal.raise_signal(signal.SIGINT)
            steps.append("deferred")
            with admitted():
                signal.raise_signal(signal.SIGINT)
                steps.append("admitted")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == ["deferred"]


class Sizes(NamedTuple):
    """A record."""

    first: int


def python_code(sizes: Sizes) -> int:
    signal.raise_signal(signal.SIGINT)
    STEPS.append(sizes.first)
    return 2 * sizes.first


class MachineCode:
    """Something that is no function of Python."""

    def __call__(self, sizes: Sizes) -> int:
        return python_code(sizes)


STEPS: list[int] = []


@pytest.mark.parametrize(("code", "steps"), [(MachineCode(), [3]), (python_code, [])])
def test_an_interrupt_waits_for_the_end_of_machine_code_alone(
    code: Callable[[Sizes], int], steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it takes records apart, an interrupt ended the process; interpreted kernels can take minutes."""

    @kernel
    def doubled(sizes: Sizes) -> int:
        return 2 * sizes.first

    STEPS.clear()
    monkeypatch.setattr(doubled, "_machine", code)
    with pytest.raises(KeyboardInterrupt):
        run(doubled, inf, Sizes(3))
    assert steps == STEPS


def test_kernels_without_numba_are_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def doubled(sizes: Sizes) -> int:
        return python_code(sizes)

    STEPS.clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "obliv._util.machine_code", raising=False)
    monkeypatch.setattr("obliv.kernels._warn_once", lambda: None)
    with pytest.raises(KeyboardInterrupt):
        run(doubled, inf, Sizes(3))
    assert not STEPS


def test_an_interrupt_is_admitted_within_both_of_two() -> None:
    steps = []

    def interrupted() -> None:
        with deferred(), deferred(), admitted():
            signal.raise_signal(signal.SIGINT)
            steps.append("admitted")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not steps
