"""A word on long work that was not announced, since its length was not known: no command is silent for long.

Where nothing that was announced covers the work so far, one line says what is being done and, where its progress is
known, how long the rest takes.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from obliv._util.cost import Cost, duration
from obliv._util.progress import IDLE
from obliv._util.text import printable
from obliv.cli.errors import complain

__all__ = ["Activity", "heard", "shown", "spoken_of"]

_SECONDS = 8.0  # of processor time without a word


@dataclass
class Activity:
    """What a command does; times are seconds of processor time since its start."""

    what: str = ""
    share: float = 0.0
    since: float = 0.0  #: When this activity began.
    covered: float = 0.0  #: Until when what was announced says enough.

    def word(self, now: float) -> str | None:
        """Return what is to be said of the work so far; None where enough was said."""
        if now < self.covered:
            return None
        self.covered = 4 * now
        so_far = f"{duration(now)} so far"
        if not 0 < self.share < 1:
            return f"{self.what or 'at work'}: {so_far}; how long the rest takes is not known"
        rest = (now - self.since) * (1 - self.share) / self.share
        return f"{self.what}: {self.share:.0%} done, {so_far}, about {duration(rest)} more"


_activity = Activity()


def heard(what: str, share: float) -> None:
    """Take note of what a command does, or of what it announces."""
    if isinstance(what, Cost):  # twice as long, since estimates are rough
        _activity.covered = max(_activity.covered, time.process_time() + 2 * what.seconds)
    elif what != _activity.what:
        _activity.what, _activity.share, _activity.since = what, share, time.process_time()
    else:
        _activity.share = share


def shown() -> None:
    """Take note that a progress bar says enough."""
    _activity.covered = max(_activity.covered, time.process_time() + _SECONDS)


@contextlib.contextmanager
def spoken_of() -> Iterator[None]:
    """Say a word from time to time on what is computed inside a ``with`` statement.

    A thread says it, which also runs while compiled code and libraries work without a break.
    """
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
        now = time.process_time()
        word = _activity.word(now) if now > _SECONDS else None
        if word is not None:
            with contextlib.suppress(OSError, ValueError):  # standard error is closed
                complain(f"obliv: {printable(word)}")
