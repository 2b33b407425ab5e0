"""Work on what untrusted files name, in a process of its own: its time, its memory and the files it reads are limited.

A claim of a kilobyte can name a network that does not fit in memory, a routing that takes days to build, or any file of
this machine. No estimate covers all of that, and code in C does not look at a clock. So another process does the work:
it is killed when its time is over, cannot take more memory than is free, and reads only the files that it may read.

Where the system copies processes safely (Linux), the process is a copy of this one, which starts at once and has
everything that was registered here. Elsewhere it starts Python anew and runs the files of ``--import`` again; what was
registered otherwise is unknown to it, and is used in this process, without these limits.
"""

from __future__ import annotations

import importlib
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from obliv._util.cost import announce_here_as, free_memory, listening
from obliv._util.files import UnreadableError, files_read, reading_from
from obliv._util.progress import Progress, silent
from obliv._util.text import shown
from obliv.errors import FileError, InputError, OblivError, TooLargeError

__all__ = ["TimeOverError", "bounded", "unquoted"]

T = TypeVar("T")

GRACE = 1.0  #: Seconds after the time limit, for work that looks at the clock itself to say what it has done.
_BUSY = 8.0  # seconds more in which a process may use the time that it has, if others use the processors
_MOMENT = 0.1  # seconds between two looks at it
_COPIES = sys.platform == "linux"  # copies are unsafe on macOS, and Windows makes none
_START = "from obliv.specs.untrusted import answer_once; answer_once()"

_within = False  # whether this process has such limits already


class TimeOverError(InputError):
    """The time limit of work on an untrusted file has passed."""


class _Call(NamedTuple):
    """What is to be called in the other process, and what it may read."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    files: tuple[str, ...]
    own: Any  #: The untrusted file itself, which errors may quote.
    seconds: float


def bounded(
    function: Callable[..., T],
    *arguments: Any,
    seconds: float,
    files: Iterable[str | Path],
    own: Any = None,
    progress: Progress = silent,
) -> T:
    """Return ``function(*arguments, progress)``, computed in a process with limits.

    Parameters
    ----------
    function : callable
        A function of a module. It reads what the user named inside of ``reading_from(None)``.
    seconds : float
        Time limit; the process is killed some seconds later, whatever it is doing.
    files : iterable of path-like
        Files, and folders of files, that specs may read.
    own : optional
        The untrusted file: errors about it are passed on as they are, others quote nothing if files were read.

    Raises
    ------
    TimeOverError
        If the time limit has passed.
    TooLargeError
        If the work needs more memory than is free.
    """
    call = _Call(function, arguments, tuple(os.path.realpath(path) for path in files), own, seconds)
    if _within or (not _COPIES and _has_own_names()):
        return function(*arguments, progress)
    kind, *answer = (_copied if _COPIES else _begun)(call, progress)
    if kind == "value":
        return answer[0]  # type: ignore[no-any-return]
    if kind == "error":
        raise answer[0]
    if kind == "late":
        raise TimeOverError(f"the time limit of {seconds:g} seconds has passed")
    raise TooLargeError("this needs more memory than is free, or it cannot be computed")


def _copied(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Let a copy of this process make a call, pass on its progress, and return its answer."""
    reader, writer = Pipe(duplex=False)
    began, limit = time.monotonic(), max(0.0, call.seconds) + GRACE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads are not copied; none is needed
        process = os.fork()
    if not process:
        _be_copy(writer, call)
    writer.close()
    try:
        while True:
            left = began + limit - time.monotonic()
            if not reader.poll(None if math.isinf(limit) else max(left, _MOMENT)):
                if (time.monotonic() - began > limit and _spent(process) > limit) or left < -_BUSY:
                    return ("late",)
                continue
            kind, *answer = message = reader.recv()
            if kind == "progress":
                progress(*answer)
            elif kind == "cost":
                announce_here_as(*answer)
            else:
                return tuple(message)
    except (EOFError, OSError):
        return ("broken",)
    finally:
        reader.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _spent(process: int) -> float:
    """Return the seconds of processor time of another process: on a busy machine its start alone takes seconds."""
    try:
        return time.clock_gettime(~process << 3 | 2)
    except OSError:
        return math.inf


def _be_copy(writer: Connection, call: _Call) -> None:
    """Make a call in the copy of a process, send the answer, and end."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits, which ends this one
        _limit(call.seconds)

        def step(kind: str) -> Progress:
            return lambda what, share: writer.send((kind, what, share))

        with listening(step("cost")):
            answer = _answer(call, step("progress"))
        writer.send_bytes(_packed(answer))
    finally:
        os._exit(0)


def _limit(seconds: float) -> None:
    """Limit the memory of this process to what is free, and its time, should no one be left to end it."""
    import resource

    with suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as sizes:
        taken = int(sizes.read().split()[0]) * resource.getpagesize()
        most = taken + int(0.9 * free_memory())
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    if seconds < 1e8:
        with suppress(OSError, ValueError):
            end = math.ceil(max(0.0, seconds) + GRACE) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (end, end))


def _answer(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Make a call within its limits, and return its value or its error with what they are."""
    global _within
    _within = True
    try:
        with reading_from(call.files):
            return "value", call.function(*call.arguments, progress)
    except MemoryError:
        return ("broken",)
    except Exception as error:
        kept = unquoted(error, call.own)
        if kept is error and not isinstance(error, OblivError):  # where it was raised is for whoever reports it
            kept.__dict__["steps"] = list(traceback.extract_tb(error.__traceback__))
        return "error", kept.with_traceback(None)


def _packed(answer: tuple[Any, ...]) -> bytes:
    """Return an answer as bytes, and an error in words where it cannot be sent as it is."""
    try:
        data = pickle.dumps(answer)
        if answer[0] == "error":  # errors of others may be made with other arguments than they keep
            pickle.loads(data)
    except Exception as error:
        what = answer[1] if answer[0] == "error" else error
        data = pickle.dumps(("error", RuntimeError(f"{type(what).__name__}: {what}")))
    return data


def unquoted(error: Exception, own: Any) -> Exception:
    """Return an error that quotes nothing of the files that an untrusted file named."""
    about_own = isinstance(error, FileError) and error.path == own
    if about_own or isinstance(error, UnreadableError) or not (files := files_read()):
        return error
    return FileError(
        f"it cannot be used with the file that it names, {shown(files[-1])}; build the network and the routing "
        "yourself to see why",
        own,
    )


def _has_own_names() -> bool:
    """Return whether names were registered in this process, by what another one would not run."""
    from obliv.specs.registry import DEFINED

    imported = {Path(file).stem for file in DEFINED.values()}
    return "__main__" in _modules() - imported


def _begun(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Let a new Python make a call, and return its answer; without progress."""
    from obliv.specs.registry import DEFINED

    places = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", _START]
    try:
        data = pickle.dumps(call)
    except (pickle.PicklingError, TypeError, AttributeError):  # objects that live in this process only
        return "value", call.function(*call.arguments, progress)
    imports = tuple(dict.fromkeys(DEFINED.values()))
    request = pickle.dumps((sys.get_int_max_str_digits(), imports, tuple(_modules()), data))
    seconds = None if math.isinf(call.seconds) else max(0.0, call.seconds) + GRACE + 2.0  # Python's own start
    try:
        done = subprocess.run(command, input=request, stdout=subprocess.PIPE, timeout=seconds, env=places)
        return tuple(pickle.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return ("late",)
    except (EOFError, pickle.UnpicklingError):
        return ("broken",)


def _modules() -> set[str]:
    """Return the modules outside of obliv that registered names."""
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    entries = (entry for table in (TOPOLOGIES, ROUTINGS, PATTERNS) for entry in table.registered)
    return {name for entry in entries if not (name := entry.make.__module__).startswith("obliv.")}


def answer_once() -> None:
    """Answer the call on standard input on standard output, in a new Python."""
    out = os.dup(1)
    os.dup2(2, 1)  # nothing else may be printed there
    from obliv.specs.imports import run_files

    digits, imports, modules, data = pickle.load(sys.stdin.buffer)
    sys.set_int_max_str_digits(digits)
    run_files(imports)
    for module in modules:
        with suppress(ImportError):
            importlib.import_module(module)
    call = pickle.loads(data)  # whose classes these modules may have
    with suppress(ImportError):  # Windows has no such limits
        _limit(call.seconds)
    with os.fdopen(out, "wb") as stream:
        stream.write(_packed(_answer(call, silent)))
