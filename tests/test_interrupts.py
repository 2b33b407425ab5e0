"""An interrupt comes after what it would break."""

from __future__ import annotations

import signal
import threading

import pytest

from obliv._util.interrupts import deferred


def test_an_interrupt_waits_for_the_end_of_an_import() -> None:
    steps = []

    def interrupted() -> None:
        with deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("imported")

    def elsewhere() -> None:
        with deferred():
            steps.append("elsewhere")

    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(ImportError), deferred():
            raise ImportError
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert steps == ["imported", "elsewhere"]
