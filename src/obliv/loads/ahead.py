"""Calls of functions of one object, begun ahead of time in the workers of an executor.

A search asks for results one after another, in an order that depends on the results alone.  It also says which calls it
will probably make next, and workers begin those meanwhile.  So the outcome is that of one process, whatever the number
of workers and the order in which they finish.  What workers cannot compute, the calling process does.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from obliv._util.executors import Serial, width_of
from obliv._util.progress import Note, Progress, free_memory, silent
from obliv.errors import OblivError

# Calls of functions of one problem, made when their results are needed


#: A function with its arguments, after the problem that it is about.
Call = tuple[Any, ...]


class Calls:
    """Calls of functions of one problem, made when their results are needed.

    Attributes
    ----------
    subject : object
        The first argument of all functions.
    width : int
        How many calls may be made at a time.
    """

    def __init__(self, subject: Any) -> None:
        self.subject = subject
        self.width = 1

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *error: object) -> None:
        """End calls whose results are no longer needed."""

    def memory(self, one: float) -> float:
        """Return the bytes that all calls together take, if each takes so many, and make no more at a time than fit."""
        return one

    def begin(self) -> None:
        """Make calls ahead from the first one on: there is much work."""

    def plan(self, calls: Iterable[Call]) -> None:
        """Say which calls will probably be made next, each a function and its arguments, the most likely first."""

    def result(self, function: Any, *arguments: Any) -> Any:
        """Return the result of a function, whose other arguments follow the subject."""
        return function(self.subject, *arguments)


_ALONE = 0.5  # seconds of work before which workers do not pay
_CALL = 0.1  # seconds of work that are sent together
_BATCH = 256  # calls that are sent together
_DEATHS = 3  # of workers without a single result, after which there will be no other
_WORKER = 2.0**28  # bytes of a worker without the object


@dataclass(eq=False)
class _Sent:
    """Calls that were sent to a worker."""

    calls: list[Call]
    future: Future[Any]
    again: bool = False


class Ahead(Calls):
    """Calls that workers make ahead of time.

    Parameters
    ----------
    subject : object
        The first argument of all functions. Workers get it once, and have to be able to unpickle it.
    executor : concurrent.futures.Executor
    progress : callable, optional
        Told if the workers turn out to be useless.

    Notes
    -----
    Functions must not depend on anything but their arguments.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, Ahead(10, pool) as calls:
    ...     calls.plan((pow, k) for k in range(3))
    ...     [calls.result(pow, k) for k in range(3)]
    [1, 10, 100]
    """

    def __init__(self, subject: Any, executor: Executor, progress: Progress = silent) -> None:
        super().__init__(subject)
        self._executor: Executor | None = None if isinstance(executor, Serial) else executor
        self._progress = progress
        self._alone = _ALONE
        self._plan: Iterator[Call] = iter(())
        self._sent: dict[Call, _Sent] = {}
        self._open: list[_Sent] = []
        self._found: dict[Call, Any] = {}
        self._refused: set[Call] = set()
        self._pace: dict[Any, tuple[int, float]] = {}
        self._deaths, self._alive = 0, False
        self._text, self._key, self._gifts = b"", "", 0
        if self._executor is not None:
            self.width = width_of(self._executor)
            self._pack()

    def __exit__(self, *error: object) -> None:
        for sent in self._open:
            sent.future.cancel()
        self._open = []
        _SHARED.pop(self._key, None)

    def _pack(self) -> None:
        """Prepare the subject for workers: threads share it, processes get a copy."""
        if isinstance(self._executor, ThreadPoolExecutor):
            self._key = str(id(self))
            _SHARED[self._key] = self.subject
            return
        try:
            self._text = pickle.dumps(self.subject, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            self._dismiss(f"workers cannot get it ({type(error).__name__}: {error})")
        self._key, self._gifts = sha256(self._text).hexdigest(), self.width

    def memory(self, one: float) -> float:
        if self._executor is None or not self._text:  # threads share what takes most
            return one * self.width
        each = one + len(self._text) + _WORKER
        fitting = int(0.9 * (free_memory() - len(self._text)) / each)
        if fitting < 2:
            self._dismiss(f"there is no room for {self.width} copies of it")
            return one
        self.width = min(self.width, fitting)
        return len(self._text) + each * self.width

    def begin(self) -> None:
        self._alone = 0.0

    def plan(self, calls: Iterable[Call]) -> None:
        if self._executor is not None:
            self._plan = iter(calls)

    def result(self, *call: Any) -> Any:
        if self._executor is None or self._alone > 0:
            return self._here(call)
        if not self._known(call):
            self._send([call])
        while call not in self._found:
            self._fill()
            if call not in self._sent or self._executor is None:
                return self._here(call)
            done = wait([sent.future for sent in self._open], return_when=FIRST_COMPLETED).done
            for sent in [sent for sent in self._open if sent.future in done]:
                self._open.remove(sent)
                self._settle(sent)
        self._fill()
        return self._found.pop(call)

    def _here(self, call: Call) -> Any:
        began = time.perf_counter()
        try:
            return call[0](self.subject, *call[1:])
        finally:
            self._alone -= time.perf_counter() - began

    def _fill(self) -> None:
        """Send what will probably be needed, so that no worker is idle; but not all of it, as it may not be."""
        while self._executor is not None and len(self._open) < 2 * self.width:
            first = next(self._plan, None)
            if first is None:
                return
            count = self._size(first[0])
            waiting = len(self._found) + sum(len(sent.calls) for sent in self._open)
            # long calls do not wait for a worker: they may turn out to be superfluous meanwhile
            if waiting > 8 * self.width * count or (count == 1 and len(self._open) >= self.width):
                self._plan = chain([first], self._plan)
                return
            some = [first, *islice(self._plan, count - 1)]
            if new := [call for call in some if not self._known(call)]:
                self._send(new)

    def _known(self, call: Call) -> bool:
        """Return whether a call was sent already."""
        return call in self._found or call in self._sent or call in self._refused

    def _size(self, function: Any) -> int:
        """Return how many calls of a function go together."""
        count, seconds = self._pace.get(function, (0, 0.0))
        return max(1, min(_BATCH, int(_CALL * count / max(seconds, 1e-9)))) if count else 1

    def _send(self, calls: list[Call], again: bool = False) -> None:
        if self._executor is None:
            return
        text, self._gifts = (self._text if again or self._gifts > 0 else b""), self._gifts - 1
        try:
            future = self._executor.submit(_work, self._key, text, calls)
        except Exception as error:
            return self._dismiss(f"they take no more work ({error or type(error).__name__})")
        sent = _Sent(calls, future, again)
        self._open.append(sent)
        self._sent.update(dict.fromkeys(calls, sent))

    def _settle(self, sent: _Sent) -> None:
        """Take the results of a worker; send calls once more if it died or did not know the subject."""
        for call in sent.calls:
            del self._sent[call]
        try:
            answer: Any = sent.future.result()
        except Exception:
            answer = None
            self._deaths += not self._alive
            if self._deaths >= _DEATHS:
                raise OblivError(
                    "worker processes die as soon as they begin: in a script, use executor=  below  "
                    "if __name__ == '__main__':"
                ) from None
        if isinstance(answer, str):
            return self._dismiss(answer)
        if answer is None:
            if sent.again:
                self._refused.update(sent.calls)
            else:
                self._send(sent.calls, again=True)
            return None
        self._alive = True
        seconds, outcomes = answer
        for call, outcome in zip(sent.calls, outcomes, strict=False):
            if outcome:
                self._found[call] = outcome[0]
            else:
                self._refused.add(call)
        count, before = self._pace.get(sent.calls[0][0], (0, 0.0))
        self._pace[sent.calls[0][0]] = count + len(outcomes), before + seconds
        return None

    def _dismiss(self, reason: str) -> None:
        """Compute everything here from now on."""
        self._executor = None
        self.width = 1
        with suppress(Exception):
            self._progress(Note(f"the work is done without workers: {' '.join(reason.split())}"), 0.0)


#: The subjects of calls of this process, for its threads.
_SHARED: dict[str, Any] = {}
#: The subject that this worker has last received.
_RECEIVED: dict[str, Any] = {}


def _work(key: str, text: bytes, calls: list[Call]) -> tuple[float, list[tuple[Any, ...]]] | str | None:
    """Compute calls in a worker: seconds and results, () for those that failed.

    None asks for the subject; a text says why the worker cannot work.
    """
    if key in _SHARED:
        subject = _SHARED[key]
    elif key in _RECEIVED:
        subject = _RECEIVED[key]
    elif not text:
        return None
    else:
        try:
            subject = pickle.loads(text)
        except Exception as error:
            return f"workers cannot read it ({type(error).__name__}: {error})"
        _RECEIVED.clear()
        _RECEIVED[key] = subject
    began = time.perf_counter()
    outcomes: list[tuple[Any, ...]] = []
    for function, *arguments in calls:
        try:
            outcomes.append((function(subject, *arguments),))
        except Exception:  # the calling process will meet it too, if it needs this result
            outcomes.append(())
    return time.perf_counter() - began, outcomes
