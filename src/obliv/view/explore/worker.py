"""The process that computes the answers of a page: it can be killed at any time, whatever it is doing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

from obliv._util.files import read_only_from
from obliv._util.progress import IDLE
from obliv.errors import OblivError
from obliv.view.explore.question import Question

__all__ = ["Setup", "work"]

_PAUSE = 0.1  # seconds between lines of progress


@dataclass(frozen=True)
class Setup:
    """What a worker is set up with.

    Parameters
    ----------
    imports : tuple of (path, SHA-256)
        Python files that register names.
    files : tuple of str
        Files that specs may read, and folders of such files.
    """

    imports: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()


def work(questions: Connection, setup: Setup) -> None:
    """Answer questions one after another, until the process that asks has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which kills its workers
    threading.Thread(target=_follow, name=f"{IDLE}-follower", daemon=True).start()
    error = _prepare(setup)
    with suppress(EOFError, OSError):  # the server has gone
        while True:
            question = questions.recv()
            if error:
                questions.send({"kind": "error", "part": question.want[0] if question.want else "", "text": error})
                questions.send({"kind": "end"})
            else:
                _answer(question, questions, [path for path, _ in setup.imports])


def _prepare(setup: Setup) -> str:
    """Load what every answer needs, and return what went wrong, in one line."""
    from obliv.specs.imports import run_files
    from obliv.study.inputs import sha256_of
    from obliv.view.explore import answers

    answers.prepare()
    try:
        for path, digest in setup.imports:
            if sha256_of(path) != digest:
                return f"{path}: has changed since obliv explore was started: start it again"
        run_files(path for path, _ in setup.imports)
    except OblivError as error:
        return str(error)
    read_only_from(setup.files)
    return ""


def _answer(question: Question, questions: Connection, imports: Sequence[str]) -> None:
    from obliv.view.explore.answers import Message, answer

    last = 0.0

    def emit(message: Message) -> None:
        nonlocal last
        if message["kind"] == "progress":
            if time.monotonic() - last < _PAUSE:
                return
            last = time.monotonic()
        questions.send(message)

    answer(question, emit, imports)


def _follow() -> None:
    """End this process when the server has ended, however that came."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
