"""The workers of a server: few at a time, one of them ready, and replaced when they are killed."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from multiprocessing.process import BaseProcess
from typing import Any

from obliv.view.explore.question import Question
from obliv.view.explore.worker import Setup, work

__all__ = ["Worker", "Workers"]

_MOST = 2  # that compute at a time


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
        self._room = asyncio.Semaphore(_MOST)
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
