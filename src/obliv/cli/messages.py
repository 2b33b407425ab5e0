"""What a command says on standard error: errors, each in one line with its exit status, and words on long work."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obliv._util.progress import IDLE, duration
from obliv._util.text import printable
from obliv.errors import in_one_line


class Stopped(BaseException):
    """Raised for Ctrl-C after the finished part was printed; typer would handle a KeyboardInterrupt itself."""


def complain(message: str) -> None:
    """Print a line on standard error, if that is open."""
    if sys.stderr is not None:
        print(message, file=sys.stderr)


def refuse(message: str) -> int:
    """Print an error in one short line, without control characters, and return the exit status 2."""
    complain("obliv: " + in_one_line(" ".join(message.split())))
    return 2


def refuse_usage(error: Any) -> int:
    """Print an error in the command line, with the help of the verb that it is about, and return the exit status 2."""
    return refuse(f"{error.format_message().rstrip('.')} (see {error.ctx.command_path} --help)")


def report_unexpected(error: Exception) -> int:
    """Report an unexpected exception in one line with its place, in a user's file or in obliv."""
    steps = [*traceback.extract_tb(error.__traceback__), *getattr(error, "steps", ())]
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for step in reversed(steps):
        if step.filename not in modules and step.filename.endswith(".py") and os.path.isfile(step.filename):
            return refuse(f"{step.filename}:{step.lineno}: {type(error).__name__}: {error}")
    if os.environ.get("OBLIV_TRACEBACK"):
        traceback.print_exception(error)
    place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
    return refuse(
        f"internal error: {type(error).__name__} at {place}: {error}; "
        "please report it with the command and its input (OBLIV_TRACEBACK=1 prints the traceback)"
    )


# A word on long work: no command is silent for long.
#
# After two seconds, one line says what is being done and how far it is; the share that was done since the line before
# gives the time that is left. Each further line comes after four times as long.


_SECONDS = 2.0  # of silence


@dataclass
class Activity:
    """What a command does; times are seconds since its start."""

    what: str = ""
    share: float = 0.0
    covered: float = _SECONDS  #: Until when nothing is to be said.
    begun: tuple[float, float] = 0.0, 1.0  #: A time, and the share that was done then: the start, or the last word.
    risen: tuple[float, float] | None = None  #: The same after the first step since, which may have compiled code.

    def hear(self, what: str, share: float, now: float) -> None:
        """Take note of what is being done; a share that falls belongs to other work."""
        if share < self.share or share < self.begun[1]:
            self.begun, self.risen = (now, share), None
        elif self.risen is None and share > self.begun[1]:
            self.risen = now, share
        self.what, self.share = what, share

    def word(self, now: float) -> str | None:
        """Return what is to be said of the work so far; None where enough was said."""
        if now < self.covered:
            return None
        share = self.share
        since, before = self.risen if self.risen and share > self.risen[1] else self.begun
        rest = (now - since) * (1 - share) / (share - before) if before < share < 1 else None
        if rest is not None and rest < _SECONDS:  # not worth a word, if it is true
            self.covered = now + _SECONDS
            return None
        self.covered, self.begun, self.risen = 4 * now, (now, share), None
        if rest is None:
            return f"{self.what or 'at work'}: {duration(now)} so far"
        return f"{self.what}: {share:.0%} done after {duration(now)}, about {duration(rest)} left"


_began = time.monotonic()
_activity = Activity()


def heard(what: str, share: float) -> None:
    """Take note of what a command does."""
    _activity.hear(what, share, time.monotonic() - _began)


def shown(seconds: float) -> None:
    """Take note that a user sees for some seconds without a word what is being done."""
    _activity.covered = max(_activity.covered, time.monotonic() - _began + seconds)


@contextlib.contextmanager
def spoken_of() -> Iterator[None]:
    """Say a word from time to time, from a thread, on what is computed inside a ``with`` statement."""
    end = threading.Event()
    thread = threading.Thread(target=_speak, args=(end,), name=f"{IDLE}-speaker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _speak(end: threading.Event) -> None:
    while not end.wait(_SECONDS / 8):
        if not _activity.what and time.process_time() < 4 * _SECONDS:
            continue  # it may wait for others, as servers do
        word = _activity.word(time.monotonic() - _began)
        if word is not None:
            with contextlib.suppress(OSError, ValueError):  # standard error is closed
                complain(f"obliv: {printable(word)}")
