"""Compile functions with numba and cache the machine code under a digest of everything it depends on."""

from __future__ import annotations

import glob
import hashlib
import os
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import numba
import numba.core.types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

from obliv._util.progress import admitted, deferred

__all__ = ["compile_function"]

_DIGITS = 20  #: Hexadecimal digits of the digest in file names.
_PATIENCE = 60.0  #: Seconds after which a function is compiled although another process is compiling it.

_config: Any = numba.config
_njit: Any = numba.njit
_types: Any = numba.core.types


def compile_function(function: types.FunctionType, digest: str) -> Callable[..., Any]:
    """Return the machine-code version of a function, compiled on its first call for each set of argument types.

    `digest` identifies the function and all functions and constants that it reaches: code that was cached under another
    digest is never loaded. Processes that share a cache compile a function one after the other: the second one loads
    what the first one compiled. A RuntimeWarning is issued if no directory for the cache is writable.
    """
    with deferred():  # the first one makes the engine of LLVM
        machine = _njit(nogil=True, no_cfunc_wrapper=True)(function)  # nothing calls kernels from C
    if _config.DISABLE_JIT:
        return function
    try:
        cache = machine._cache = _Cache(function, digest)
        machine.compile = _one_process_at_a_time(machine.compile, cache.lock_path)
    except RuntimeError:
        warnings.warn(
            "compiled kernels cannot be cached here; set NUMBA_CACHE_DIR to a writable directory",
            RuntimeWarning,
            stacklevel=2,
        )
    return cast(Callable[..., Any], machine)


class _Cache(FunctionCache):
    """A file cache whose file names, index and keys hold the digest, so that no stale entry can be loaded.

    numba's own cache is keyed by the source file of one function: it misses changes of callees and constants in other
    files, of the fields of records, and of ``NUMBA_BOUNDSCHECK``.
    """

    def __init__(self, function: types.FunctionType, digest: str) -> None:
        super().__init__(function)
        stamp = hashlib.sha256(f"{digest} {numba.__version__}".encode()).hexdigest()
        python = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        checked = "-checked" if _config.BOUNDSCHECK else ""
        self._name = f"{function.__module__}.{function.__qualname__}-{python}{checked}"
        self._base = f"{self._name}-{stamp[:_DIGITS]}"
        self._cache_file = IndexDataCacheFile(self.cache_path, self._base, stamp)
        self.lock_path = os.path.join(self.cache_path, f"{self._base}.lock")

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), tuple(_records(sig)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return cached machine code; None where what is cached is damaged or names a record that was moved."""
        try:
            return super().load_overload(sig, target_context)
        except MemoryError:
            raise
        except Exception:  # unpickling raises whatever it likes
            with suppress(OSError):
                self.flush()
            return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError, ImportError):  # without room, or beside an index that cannot be replaced, do without
            super()._save_overload(sig, data)
            self._remove_stale()

    def _remove_stale(self) -> None:
        """Remove what earlier versions of the function left in the cache."""
        pattern = os.path.join(glob.escape(self.cache_path), glob.escape(self._name) + "-" + "[0-9a-f]" * _DIGITS)
        for path in [*glob.glob(f"{pattern}.nbi"), *glob.glob(f"{pattern}.[0-9]*.nbc"), *glob.glob(f"{pattern}.lock")]:
            if not os.path.basename(path).startswith(f"{self._base}."):
                try:
                    os.unlink(path)
                except OSError:  # another process was faster, or still has it open
                    continue


def _one_process_at_a_time(compile_signature: Callable[[Any], Any], path: str) -> Callable[[Any], Any]:
    """Return a function that compiles, or loads from the cache, while it holds the lock of a file."""

    def locked(signature: Any) -> Any:
        # A thread that waits for the file must not keep another one waiting that holds it.
        with global_compiler_lock, _lock(path), deferred():  # what LLVM has half made or loaded cannot be taken down
            return compile_signature(tuple(map(_widened, signature)))

    return locked


def _widened(argument: Any) -> Any:
    """Return the type that a kernel is compiled for: 64 bits for signed integers, no type of its own for a constant."""
    argument = _types.unliteral(argument)
    short = isinstance(argument, _types.Integer) and argument.signed and argument.bitwidth < 64
    return _types.int64 if short else argument


@contextmanager
def _lock(path: str) -> Iterator[None]:
    """Lock a file until the block ends; do without where files cannot be locked or the lock is not free in time.

    The lock saves work only: numba replaces the files of its cache as a whole.
    """
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except (ImportError, OSError):
        yield
        return
    try:
        with admitted():
            deadline = time.monotonic() + _PATIENCE
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.02)
                except OSError:
                    break
        yield
    finally:
        os.close(descriptor)


def _records(sig: Any) -> list[tuple[str, ...]]:
    """Return the names and fields of the records among argument types, nested ones included."""
    records = []
    for argument in sig:
        if isinstance(argument, _types.BaseNamedTuple):
            kind = argument.instance_class
            records.append((kind.__module__, kind.__qualname__, *argument.fields))
        if isinstance(argument, _types.BaseTuple):
            records += _records(argument)
    return records
