"""An interrupt comes after what it would break."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from math import inf

import pytest

from obliv._util.interrupts import admitted, deferred
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


def test_an_interrupt_waits_for_the_end_of_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """While records are taken apart, it ended the process."""
    steps = []

    @kernel
    def doubled(number: int) -> int:
        return 2 * number

    def machine(number: int) -> int:
        signal.raise_signal(signal.SIGINT)
        steps.append(number)
        return 2 * number

    monkeypatch.setattr(doubled, "_machine", machine)
    with pytest.raises(KeyboardInterrupt):
        run(doubled, inf, 3)
    assert steps == [3]
