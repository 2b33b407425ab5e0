"""Interrupts of commands: noted, raised again where Python discards them, recognized in errors; threads awaited."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any


def led_to(error: BaseException | None, interrupted: threading.Event | None) -> bool:
    """Return whether an interrupt led to an error: Python wraps one while it makes a class; NumPy may drop one."""
    if interrupted is not None and interrupted.is_set():
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def interrupt(interrupted: threading.Event, number: int, frame: FrameType | None) -> None:
    """Note an interrupt, and raise it."""
    interrupted.set()
    signal.default_int_handler(number, frame)


def interrupt_again(unraisable: Any) -> None:
    """Interrupt the main thread again if an interrupt came where Python discards exceptions, as in callbacks."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        ready = threading.Event()
        _thread.start_new_thread(_interrupt_main, (ready,))
        ready.set()  # last, since an interrupt within this function would be lost again, however busy the machine
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_main(ready: threading.Event) -> None:
    """Send the main thread a signal, which ends its waiting, too; where there are none, interrupt what it computes."""
    ready.wait()
    time.sleep(0.02)
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def await_threads(status: int) -> None:
    """Wait a moment for pools whose workers were told to end: they give back what they hold.

    Pools are freed only after this function has returned, as it refers to their threads. Other threads are awaited
    where the command was not interrupted.
    """
    for thread in threading.enumerate():
        pool = type(thread).__module__ == "concurrent.futures.process"
        if thread is not threading.current_thread() and (pool or status != 130):
            thread.join(timeout=0.5 if status == 130 else 1)
