"""Processes that answer the questions of a page, the pool of a server, and what the server keeps of answers."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from obliv._util.files import read_only_from
from obliv._util.progress import IDLE
from obliv.errors import OblivError
from obliv.explore.question import Question

# The process that computes the answers of a page: it can be killed at any time, whatever it is doing


_PAUSE = 0.1  # seconds between lines of progress


@dataclass(frozen=True)
class Setup:
    """What a worker is set up with: Python files with SHA-256, and files or folders that specs may read."""

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
    from obliv.explore import answers
    from obliv.specs.registry import run_files
    from obliv.study.reading import sha256_of

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
    from obliv.explore.answers import answer

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


# The workers of a server: few at a time, one of them ready, and replaced when they are killed


_MOST_WORKERS = 2  # that compute at a time


class Worker:
    """A process that answers questions, one at a time."""

    def __init__(self, setup: Setup) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=work, args=(theirs, setup), daemon=True)
        self._process.start()
        theirs.close()
        self.finished = True

    async def ask(self, question: Question) -> AsyncIterator[dict[str, Any]]:
        """Yield the messages of an answer; EOFError or OSError if the process has ended."""
        self.finished = False
        self._pipe.send(question)
        while True:
            message: dict[str, Any] = await asyncio.to_thread(self._pipe.recv)
            if message["kind"] == "end":
                self.finished = True
                return
            yield message

    @property
    def ready(self) -> bool:
        """Whether the process runs and has answered all that it was asked."""
        return self.finished and self._process.is_alive()

    def kill(self) -> None:
        """End the process at once."""
        with suppress(OSError, ValueError):
            self._process.kill()
            self._process.join(5)


class Workers:
    """Workers, a few at a time, each of them lent to one question."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._room = asyncio.Semaphore(_MOST_WORKERS)
        self._closed = False

    def warm(self) -> None:
        """Have one worker ready."""
        if not self._idle and not self._closed:
            self._idle.append(Worker(self._setup))

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        """Lend a worker; wait where enough are at work. One that has not finished is killed afterwards."""
        async with self._room:
            worker = self._idle.pop() if self._idle else Worker(self._setup)
            if not worker.ready:
                worker.kill()
                worker = Worker(self._setup)
            self._busy.add(worker)
            self.warm()  # for the question that replaces this one
            try:
                yield worker
            finally:
                self._busy.discard(worker)
                if worker.ready and not self._idle and not self._closed:
                    self._idle.append(worker)
                else:
                    worker.kill()

    def close(self) -> None:
        """Kill all workers."""
        self._closed = True
        for worker in (*self._idle, *self._busy):
            worker.kill()


# Questions and their answers: a newer question of a page replaces the older one; finished parts are kept


_KEPT = 100  # answers of parts
_LOST = "the process that computed this has ended, perhaps for lack of memory: ask again, or choose a smaller network"
_NEWER = "a newer question of this page has replaced this one"

Message = dict[str, Any]
Key = tuple[Any, ...]


class ServerState:
    """What a server remembers."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._known: OrderedDict[Key, list[Message]] = OrderedDict()

    async def ask(self, question: Question) -> AsyncGenerator[Message]:
        """Yield the messages of an answer: what is known at once, then the rest from a worker.

        A newer question of the same page ends this one, and so does closing this generator; its worker is killed.
        """
        if older := self._asking.get(question.page):
            older.cancel()
        messages: asyncio.Queue[Message] = asyncio.Queue()
        task = asyncio.create_task(self._answer(question, messages))
        self._asking[question.page] = task
        try:
            while True:
                message = await messages.get()
                yield message
                if message["kind"] in ("end", "replaced"):
                    return
        finally:
            task.cancel()
            if self._asking.get(question.page) is task:
                del self._asking[question.page]
            await asyncio.gather(task, return_exceptions=True)

    async def _answer(self, question: Question, messages: asyncio.Queue[Message]) -> None:
        try:
            missing = []
            for part in question.want:
                known = self._known.get(_key(part, question))
                missing += [part] * (known is None)
                for message in known or ():
                    messages.put_nowait(message)
            if missing:
                await self._compute(replace(question, want=tuple(missing)), messages)
            messages.put_nowait({"kind": "end"})
        except asyncio.CancelledError:
            messages.put_nowait({"kind": "replaced", "text": _NEWER})
            raise

    async def _compute(self, question: Question, messages: asyncio.Queue[Message]) -> None:
        """Have a worker answer, and keep the parts that it finishes."""
        async with self._workers.worker() as worker:
            part: list[Message] = []
            try:
                async for message in worker.ask(question):
                    if message["kind"] == "done":
                        self._keep(message["part"], question, part)
                        part = []
                        continue
                    part.append(message)
                    messages.put_nowait(message)
            except (EOFError, OSError):
                messages.put_nowait({"kind": "error", "part": "", "text": _LOST})

    def _keep(self, part: str, question: Question, messages: list[Message]) -> None:
        """Keep the answer of a part if it is a result of specs alone: not of files, not an error, and not large."""
        kept = [message for message in messages if message["kind"] in ("part", "error")]
        if part == "claim" or any(message["kind"] == "error" or message.get("files") for message in kept):
            return
        self._known[_key(part, question)] = kept
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


def _key(part: str, question: Question) -> Key:
    """Return what the answer of a part depends on."""
    if part == "names":
        return (part,)
    key: Key = (part, question.spec, question.routing)
    if part == "network":  # it names the commands of all parts
        return (*key, question.traffic, question.scheme, question.samples, question.seed)
    more: dict[str, Any] = {"traffic": question.traffic, "deadlock": question.scheme}
    return (*key, more.get(part), (question.samples, question.seed) if part == "average" else None)
