"""The command line: ``obliv VERB ...``, one thin command a verb; its exit status, errors, warnings and interrupts."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from functools import partial
from types import FrameType
from typing import Any

__all__ = ["main"]


def main(arguments: list[str] | None = None, *, interrupted: threading.Event | None = None) -> int:
    """Run a command line and return its exit status.

    Exit status: 0 success, 1 check failed, 2 bad usage or bad input (one line on standard error), 130 interrupted.
    Once `interrupted` is set, errors are the effect of an interrupt, in whose place libraries may raise others.
    """
    from obliv._util.text import print_any_sign
    from obliv.cli.messages import Stopped, complain, refuse, refuse_usage, report_unexpected
    from obliv.errors import OblivError

    words = list(sys.argv[1:] if arguments is None else arguments)
    print_any_sign()
    sys.set_int_max_str_digits(0)  # exact numbers may be longer than Python's default allows
    try:
        from obliv.cli.app import command

        with warnings.catch_warnings():
            warnings.filterwarnings("default", category=RuntimeWarning, module="obliv")
            warnings.showwarning = _show_warning
            status = command()(words, prog_name="obliv", standalone_mode=False)
        if sys.stdout is not None:  # it is None where standard output is closed
            sys.stdout.flush()
        if status == 130:
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except OblivError as error:
        return _stopped() if _interrupted(error, interrupted) else refuse(str(error))
    except Stopped as stop:
        complain(f"\nobliv: interrupted {stop}")
        return 130
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        _discard_output()  # a closed pipe does not change the exit status
        return 0
    except OSError as error:
        if error.filename is not None:
            return report_unexpected(error)
        _discard_output()
        return refuse(f"the answer cannot be written: {error.strerror or error}")
    except MemoryError:
        return refuse("the problem does not fit in memory; choose a smaller network")
    except Exception as error:
        if _interrupted(error, interrupted):
            return _stopped()
        if type(error).__name__ == "Abort":
            complain("obliv: interrupted")
            return 130
        if not hasattr(error, "format_message"):  # not an error in the command line
            return report_unexpected(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 0
        return refuse_usage(error)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Show a warning as a line like any other: where obliv issued it says nothing to users of the command line."""
    from obliv.cli.messages import complain
    from obliv.errors import in_one_line

    message = in_one_line(str(message))
    complain(f"obliv: {message}" if category is RuntimeWarning else f"obliv: {category.__name__}: {message}")


def _stopped() -> int:
    """Say that the command was interrupted, and return the exit status 130."""
    from obliv.cli.messages import complain

    complain("\nobliv: interrupted; no partial file was written")
    return 130


def _interrupted(error: BaseException | None, interrupted: threading.Event | None) -> bool:
    """Return whether an interrupt led to an error: Python wraps one while it makes a class; NumPy may drop one."""
    if interrupted is not None and interrupted.is_set():
        return True
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _discard_output() -> None:
    """Discard the buffer of standard output, so that Python exits without a message."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not a file, or closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run() -> None:
    """Run the console script; an interrupt before or after the work has the same effect as one during it."""
    status = 130
    interrupted = threading.Event()
    sys.unraisablehook = _interrupt_again
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, partial(_interrupt, interrupted))
        from obliv.cli.messages import spoken_of

        try:
            with spoken_of():
                status = main(interrupted=interrupted)
        except KeyboardInterrupt:
            status = 130
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is out: an interrupt now changes nothing
    except KeyboardInterrupt:  # between the two
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _await_threads(status)
    # An interrupted solver would abort the process when Python ends its thread; and to free what is in memory takes
    # longer than one who has interrupted a command should wait.
    if status == 130 or threading.active_count() > 1:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _await_threads(status: int) -> None:
    """Wait a moment for pools whose workers were told to end: they give back what they hold.

    Pools are freed only after this function has returned, as it refers to their threads. Other threads are awaited
    where the command was not interrupted.
    """
    for thread in threading.enumerate():
        pool = type(thread).__module__ == "concurrent.futures.process"
        if thread is not threading.current_thread() and (pool or status != 130):
            thread.join(timeout=0.5 if status == 130 else 1)


def _interrupt(interrupted: threading.Event, number: int, frame: FrameType | None) -> None:
    """Note an interrupt, and raise it."""
    interrupted.set()
    signal.default_int_handler(number, frame)


def _interrupt_again(unraisable: Any) -> None:
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
