"""Work on what untrusted files name, in a process of its own: its time, its memory and the files it reads are limited.

A claim of a kilobyte can name a network that does not fit in memory, a routing that takes days to build, or any file of
this machine. No estimate covers all of that, and code in C does not look at a clock. So another process does the work:
it is killed when its time is over, cannot take more memory than is free, and reads only the files that it may read.

Where the system copies processes safely (Linux) and this one has no other thread, which may hold a lock that no one
opens in a copy, the process is a copy of this one, which starts at once and has everything that was registered here.
Else it starts Python anew and runs the files of ``--import`` again; what needs objects or names that are only here, as
those of a notebook, is done here: with the limits of files, without those of time and memory.
"""

from __future__ import annotations

import importlib
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from obliv._util.files import UnreadableError, files_read, reading_from
from obliv._util.progress import IDLE, Note, Progress, free_memory, silent
from obliv._util.text import shown
from obliv.errors import FileError, InputError, OblivError, TooLargeError

__all__ = ["CrashedError", "TimeOverError", "bounded", "unquoted"]

T = TypeVar("T")

GRACE = 1.0  #: Seconds after the time limit, for work that looks at the clock itself to say what it has done.
_START_UP = 10.0  # seconds at most in which a process starts, before its time begins
_MOMENT = 0.1  # seconds between two looks at the clock, and between two words on progress
_COPIES = sys.platform == "linux"  # copies are unsafe on macOS, and Windows makes none
_START = "from obliv.specs.untrusted import answer_once; answer_once()"

_within: ContextVar[bool] = ContextVar("_within", default=False)  # whether there are such limits already
_here = threading.RLock()  # held while a call is made in this process, whose limits of files hold for all threads


class TimeOverError(InputError):
    """The time limit of work on an untrusted file has passed."""


class CrashedError(InputError):
    """The process that worked on an untrusted file has ended without an answer."""


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
    """Return ``function(*arguments, progress)``, computed in a process with limits."""
    call = _Call(function, arguments, tuple(os.path.realpath(path) for path in files), own, seconds)
    if _within.get():
        return function(*arguments, progress)
    kind, *answer = (_copied if _copies_safely() else _begun)(call, progress)
    if kind == "here":
        with _here:
            kind, *answer = _answer(call, progress)
    if kind == "value":
        return answer[0]  # type: ignore[no-any-return]
    raise answer[0] if kind == "error" else _failure(kind, seconds, *answer)


def _failure(kind: str, seconds: float, status: int = 0) -> InputError:
    """Return the error that says why there is no answer."""
    name = next((number.name for number in signal.Signals if number == -status), "")
    if kind == "late" or name == "SIGXCPU":
        return TimeOverError(f"the time limit of {seconds:g} seconds has passed")
    if kind == "memory":
        return TooLargeError("this needs more memory than is free: use a machine with more, or close other programs")
    if kind == "refused":
        return CrashedError(f"no process can be started for this: {os.strerror(status)}")
    if name == "SIGKILL":
        return CrashedError("the system has killed the process that computed this, as it does if memory runs out")
    if name:
        return CrashedError(f"the process that computed this has crashed ({name}): an internal error; please report it")
    return CrashedError(f"the process that computed this has ended without an answer (exit status {status})")


def _copies_safely() -> bool:
    """Return whether this process can be copied: no thread of it may hold a lock."""
    others = [thread for thread in threading.enumerate() if not thread.name.startswith(IDLE)]
    return _COPIES and others == [threading.current_thread()]


def _copied(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Let a copy of this process make a call, pass on its progress, and return its answer."""
    reader, writer = os.pipe()
    answers, this, process = os.fdopen(reader, "rb"), os.getpid(), _Copy()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries are not copied; none is needed
            process.number = os.fork()
        if not process.number:
            _be_copy(reader, writer, call, before, this)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # an interrupt that came meanwhile is raised here
        os.close(writer)
        writer = -1
        return _followed(process, _heard(answers), call, progress)
    except OSError as error:
        if process.number:  # of whom progress is reported to
            raise
        answers.close()
        return "refused", error.errno
    finally:
        process.kill()
        process.wait()
        if writer >= 0:
            os.close(writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Copy:
    """A copy of this process, to be ended and waited for as others are."""

    number: int = 0
    status: int | None = None

    def kill(self) -> None:
        if self.number and self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.number, signal.SIGKILL)

    def wait(self) -> int:
        if self.number and self.status is None:
            self.status = 1  # if the system has waited for it
            with suppress(ChildProcessError):
                self.status = os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])
        return self.status or 0


def _heard(answers: IO[bytes], asked: IO[bytes] | None = None, request: bytes = b"") -> queue.SimpleQueue[Any]:
    """Return the messages of another process, which a thread sends a request and reads; None is the last."""
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        try:
            with answers:
                if asked is not None:  # stays open: its end is the end of this process
                    asked.write(request)
                    asked.flush()
                while True:
                    heard.put(pickle.load(answers))
        except Exception:  # it has ended, perhaps within a message
            heard.put(None)
        if asked is not None:
            with suppress(OSError):
                asked.close()

    threading.Thread(target=read, name=f"{IDLE}-answers", daemon=True).start()
    return heard


def _followed(
    process: _Copy | subprocess.Popen[bytes], heard: queue.SimpleQueue[Any], call: _Call, progress: Progress
) -> tuple[Any, ...]:
    """Pass on the progress of another process and return its answer, or that it comes too late."""
    limit = max(0.0, call.seconds) + GRACE
    end = time.monotonic() + _START_UP + limit
    while (left := end - time.monotonic()) > 0:
        try:
            message = heard.get(timeout=min(left, _MOMENT))
        except queue.Empty:
            continue
        if message is None:
            return "ended", process.wait()
        kind, *content = message
        if kind == "begun":
            end = min(end, time.monotonic() + limit)
        elif kind == "progress":
            progress(*content)
        else:
            return tuple(message)
    return ("late",)


def _be_copy(reader: int, writer: int, call: _Call, mask: Iterable[int], parent: int) -> None:
    """Make a call in the copy of a process, send the answer, and end."""
    try:
        os.close(reader)
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():  # what others do on a signal is not for a copy
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits, which ends this one
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _respond(os.fdopen(writer, "wb"), call, parent)
        os._exit(0)
    finally:
        os._exit(1)


def _respond(stream: IO[bytes], call: _Call, parent: int) -> None:
    """Make a call within limits; write its progress and its answer to a stream."""
    _end_with(parent)
    with suppress(ImportError):  # Windows has no such limits
        _limit(call.seconds)
    last = -math.inf

    def send(data: bytes) -> None:
        stream.write(data)
        stream.flush()

    def step(what: str, share: float) -> None:
        nonlocal last
        if isinstance(what, Note) or time.monotonic() - last > _MOMENT:
            last = time.monotonic()
            send(pickle.dumps(("progress", what, share)))

    send(pickle.dumps(("begun",)))
    send(_packed(_answer(call, step)))


def _end_with(parent: int) -> None:
    """End this process when the one that started it has ended, however that came."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)


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
            end = math.ceil(2 * (os.cpu_count() or 1) * max(0.0, seconds)) + 5  # of all its threads
            resource.setrlimit(resource.RLIMIT_CPU, (end, end))


def _answer(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Make a call within its limits, and return its value or its error with what they are."""
    before = _within.set(True)
    try:
        with reading_from(call.files):
            try:
                return "value", call.function(*call.arguments, progress)
            except MemoryError:
                return ("memory",)
            except Exception as error:
                kept = unquoted(error, call.own)
                if kept is error and not isinstance(error, OblivError):  # where it was raised is for whoever reports it
                    kept.__dict__["steps"] = list(traceback.extract_tb(error.__traceback__))
                return "error", kept.with_traceback(None)
    finally:
        _within.reset(before)


def _packed(answer: tuple[Any, ...]) -> bytes:
    """Return an answer as bytes, and an error in words where it cannot be sent as it is."""
    try:
        data = pickle.dumps(answer)
        if answer[0] == "error":  # errors of others may be made with other arguments than they keep
            pickle.loads(data)
    except MemoryError:
        data = pickle.dumps(("memory",))
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


def _begun(call: _Call, progress: Progress) -> tuple[Any, ...]:
    """Let a new Python make a call, pass on its progress, and return its answer; or that it is to be made here."""
    from obliv.specs.registry import DEFINED

    imports = tuple(dict.fromkeys(DEFINED.values()))
    names, modules = _names_of_others()
    if not sys.executable or "__main__" in modules - {Path(file).stem for file in imports}:
        return ("here",)
    try:
        data = pickle.dumps(call)
    except (pickle.PicklingError, TypeError, AttributeError):  # objects that live in this process only
        return ("here",)
    request = pickle.dumps((os.getpid(), sys.get_int_max_str_digits(), imports, names, tuple(modules), data))
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    command = [sys.executable, "-P", "-c", _START]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=places)
    except OSError as error:
        return "refused", error.errno
    try:
        heard = _heard(process.stdout, process.stdin, request)  # type: ignore[arg-type]  # which are pipes
        return _followed(process, heard, call, progress)
    finally:
        process.kill()
        process.wait()


def _tables() -> tuple[Any, ...]:
    """Return the registries."""
    from obliv.specs.registry import PATTERNS, ROUTINGS, TOPOLOGIES

    return TOPOLOGIES, ROUTINGS, PATTERNS


def _names_of_others() -> tuple[list[tuple[int, str]], set[str]]:
    """Return the names that were registered outside of obliv, with the numbers of their tables, and their modules."""
    names: list[tuple[int, str]] = []
    modules: set[str] = set()
    for k, table in enumerate(_tables()):
        for entry in table.registered:
            if not entry.make.__module__.startswith("obliv."):
                names.append((k, entry.name))
                modules.add(entry.make.__module__)
    return names, modules


def answer_once() -> None:
    """Answer the call on standard input on standard output, in a new Python."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may be printed there
    with suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    from obliv.specs.registry import run_files

    parent, digits, imports, names, modules, data = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_after, args=(sys.stdin.buffer,), daemon=True).start()
    sys.set_int_max_str_digits(digits)
    with suppress(OblivError):  # a file may be gone, or its path meant from another folder: its names are missed below
        run_files(imports)
    for module in modules:
        with suppress(ImportError):
            importlib.import_module(module)
    try:
        call = pickle.loads(data)  # whose classes these modules may have
    except Exception:  # they are only where the call came from
        call = None
    if call is None or any(name not in _tables()[k] for k, name in names):
        stream.write(pickle.dumps(("here",)))
        stream.flush()
    else:
        _respond(stream, call, parent)
    os._exit(0)  # the other thread still holds the standard input


def _end_after(stream: IO[bytes]) -> None:
    """End this process at the end of a stream, which the process that started it keeps open."""
    stream.read()
    os._exit(1)
