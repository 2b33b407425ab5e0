"""Calls of functions of one object, made in rounds by the workers of an executor.

A search asks for results one after another, in an order that depends on the results alone, and says which calls it will
probably make next. A round makes some of them at once. So the outcome is that of one process, whatever the number of
workers. What workers cannot compute, the calling process does.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Any

from obliv._util.executors import Serial, width_of
from obliv._util.progress import Note, Progress, free_memory, silent
from obliv.errors import OblivError

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
        """Give calls to workers from the first one on: there is much work."""

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


class WorkerCalls(Calls):
    """Calls that workers make, as many at a time as there are workers, or more if they are short.

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
    >>> with ThreadPoolExecutor(2) as pool, WorkerCalls(10, pool) as calls:
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
        self._found: dict[Call, Any] = {}
        self._pace: dict[Any, tuple[int, float]] = {}
        self._text, self._key = b"", ""
        self._deaths, self._alive = 0, False
        if self._executor is not None:
            self.width = width_of(self._executor)
            self._pack()

    def __exit__(self, *error: object) -> None:
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
        self._key = sha256(self._text).hexdigest()

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
        if self._executor is not None and self._alone <= 0 and call not in self._found:
            self._round(call)
        if call in self._found:
            return self._found.pop(call)
        began = time.perf_counter()
        try:
            return call[0](self.subject, *call[1:])
        finally:
            self._alone -= time.perf_counter() - began

    def _round(self, call: Call) -> None:
        """Make a call and those that will probably be needed next, as many as keep every worker busy for a while."""
        count, seconds = self._pace.get(call[0], (0, 0.0))
        size = max(1, min(_BATCH, int(_CALL * count / max(seconds, 1e-9)))) if count else 1
        planned = (one for one in self._plan if one != call and one not in self._found)
        calls = [call, *islice(planned, self.width * size - 1)]
        batches = [batch for k in range(self.width) if (batch := calls[k :: self.width])]
        text = b"" if self._alive else self._text  # workers that come later ask for it
        for repeated in (text, self._text):
            batches = self._made(batches, repeated)

    def _made(self, batches: list[list[Call]], text: bytes) -> list[list[Call]]:
        """Make batches of calls, one a worker; return those of workers that died, or do not know the subject."""
        futures: list[Any] = []
        again = []
        try:
            futures += (self._executor.submit(_work, self._key, text, batch) for batch in batches if self._executor)
            for batch, future in zip(batches, futures, strict=False):
                try:
                    answer = future.result()
                except Exception:
                    answer = None
                    self._died()
                if isinstance(answer, str):
                    self._dismiss(answer)
                elif answer is None:
                    again.append(batch)
                else:
                    self._alive = True
                    self._keep(batch, *answer)
        except OblivError:
            raise
        except Exception as error:
            self._dismiss(f"they take no more work ({error or type(error).__name__})")
        finally:
            for future in futures:
                future.cancel()
        return again

    def _keep(self, batch: list[Call], seconds: float, outcomes: list[tuple[Any, ...]]) -> None:
        """Keep what a worker has computed; the calling process computes the rest, and meets its errors."""
        self._found.update((call, outcome[0]) for call, outcome in zip(batch, outcomes, strict=True) if outcome)
        count, before = self._pace.get(batch[0][0], (0, 0.0))
        self._pace[batch[0][0]] = count + len(batch), before + seconds

    def _died(self) -> None:
        self._deaths += not self._alive
        if self._deaths >= _DEATHS:
            raise OblivError(
                "worker processes die as soon as they begin: in a script, use executor=  below  "
                "if __name__ == '__main__':"
            ) from None

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
        except Exception:  # which the calling process meets too, if it needs this result
            outcomes.append(())
    return time.perf_counter() - began, outcomes
