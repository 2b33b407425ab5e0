"""Newer questions replace older ones, pages that go away end their work, and finished parts are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, cast

from obliv.explore.question import Question
from obliv.explore.workers import ServerState, Workers


class Slow:
    """A worker that answers each part after a step of the clock, or dies."""

    def __init__(self, log: list[str], deadly: str) -> None:
        self.log, self.deadly, self.finished = log, deadly, False

    async def ask(self, question: Question) -> AsyncIterator[dict[str, Any]]:
        for part in question.want:
            yield {"kind": "progress", "part": part, "text": "", "share": 0.0}
            self.log.append(f"{question.routing} {part}")
            if question.routing == self.deadly:
                raise EOFError
            await asyncio.sleep(0.01 if question.routing != "slow" else 30)
            yield {"kind": "part", "part": part, "of": question.routing, "files": question.topology == "file"}
            yield {"kind": "done", "part": part}
        self.finished = True


class Desk:
    """Workers without processes."""

    def __init__(self, deadly: str = "") -> None:
        self.log: list[str] = []
        self.killed = 0
        self.deadly = deadly

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Slow]:
        worker = Slow(self.log, self.deadly)
        try:
            yield worker
        finally:
            self.killed += not worker.finished


def in_loop(run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine in a thread of its own: the loop of a browser may be running in this one."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(lambda: asyncio.run(run())).result()


def asked(routing: str, page: str = "a", topology: str = "ring:4") -> Question:
    return Question(topology, routing, want=("worst", "hops"), page=page)


async def heard(state: ServerState, question: Question) -> list[str]:
    return [
        message.get("of", message["kind"]) async for message in state.ask(question) if message["kind"] != "progress"
    ]


def test_a_newer_question_of_a_page_replaces_the_older_one_at_once() -> None:
    async def run() -> None:
        desk = Desk()
        state = ServerState(cast(Workers, desk))
        slow, other = (asyncio.create_task(heard(state, asked("slow", page))) for page in "ab")
        await asyncio.sleep(0.02)
        assert await heard(state, asked("quick")) == ["quick", "quick", "end"]
        assert await asyncio.wait_for(slow, 1) == ["replaced"]
        assert desk.killed == 1  # the page b goes on
        assert not other.done()
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        assert desk.killed == 2

    in_loop(run)


def test_a_page_that_goes_away_ends_its_work() -> None:
    async def run() -> None:
        desk = Desk()
        answer = ServerState(cast(Workers, desk)).ask(asked("slow"))
        assert (await anext(answer))["kind"] == "progress"
        await answer.aclose()
        assert desk.killed == 1

    in_loop(run)


def test_finished_parts_are_kept_unless_they_come_from_files() -> None:
    async def run() -> None:
        desk = Desk()
        state = ServerState(cast(Workers, desk))
        for _ in range(2):
            assert await heard(state, asked("quick")) == ["quick", "quick", "end"]
        assert desk.log == ["quick worst", "quick hops"]
        for _ in range(2):
            await heard(state, asked("other", topology="file"))
        assert desk.log.count("other worst") == 2

    in_loop(run)


def test_a_worker_that_dies_is_an_error_in_one_line() -> None:
    async def run() -> None:
        state = ServerState(cast(Workers, Desk(deadly="ecmp")))
        messages = [message async for message in state.ask(asked("ecmp"))]
        assert [message["kind"] for message in messages[-2:]] == ["error", "end"]
        assert "has ended, perhaps for lack of memory" in messages[-2]["text"]
        assert await heard(state, asked("quick")) == ["quick", "quick", "end"]

    in_loop(run)
