"""Questions and their answers: a newer question of a page replaces the older one; finished parts are kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

from obliv.view.explore.question import Question
from obliv.view.explore.workers import Workers

__all__ = ["State"]

_KEPT = 100  # answers of parts
_LOST = "the process that computed this has ended, perhaps for lack of memory: ask again, or choose a smaller network"
_NEWER = "a newer question of this page has replaced this one"

Message = dict[str, Any]
Key = tuple[Any, ...]


class State:
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
