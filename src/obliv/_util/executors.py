"""Executors: processes that outlive their workers, the calling process alone, clusters of Dask, and MPI.

Anything with the interface of :class:`concurrent.futures.Executor` will do in their place.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from obliv._util.progress import free_memory
from obliv._util.rationals import integer
from obliv.errors import InputError, extra

T = TypeVar("T")

_MEMORY = 2.0**30  # bytes of free memory for each process


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_jobs() -> int:
    """Return the number of processes that cores and free memory suffice for."""
    return max(1, min(cores(), int(free_memory() / _MEMORY)))


def executor_of(jobs: int | None) -> Executor:
    """Return an executor with so many processes; by default as many as cores and memory suffice for."""
    count = default_jobs() if jobs is None else integer(jobs, "jobs")
    if count < 1:
        raise InputError(f"{count} jobs: at least 1 is needed")
    return Serial() if count == 1 else Processes(count)


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Give an executor with so many processes, which end with the ``with`` statement, whatever they are doing."""
    executor = executor_of(jobs)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def width_of(executor: Executor, jobs: int | None = None) -> int:
    """Return how many calls an executor can run at a time: what it says, else `jobs`, else the number of cores."""
    for name in ("_max_workers", "num_workers"):
        if isinstance(count := getattr(executor, name, None), int) and count > 0:
            return count
    return jobs or os.cpu_count() or 1


class Serial(Executor):
    """Calls functions at once, in the calling process."""

    _max_workers = 1

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function and return its finished future."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """Worker processes, which are replaced when one of them dies.

    The calls that ran or waited then raise :class:`concurrent.futures.BrokenExecutor`; later ones go to new processes.
    Workers end when the process that made them ends, however that comes.

    Parameters
    ----------
    jobs : int
        Number of processes.
    """

    def __init__(self, jobs: int) -> None:
        self._max_workers = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._alive: Connection | None = None

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function in a worker process; a pool that is broken is replaced first."""
        if self._pool is not None:
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self.shutdown(wait=False)
        context = multiprocessing.get_context("spawn")
        reader, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self._max_workers, context, _begin, (reader,))
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers: after the calls that are waiting, or at once with `wait` false."""
        if self._pool is None or self._alive is None:
            return
        if not wait:
            self._alive.close()  # the sign for the workers to end
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
        self._alive.close()
        self._pool = None


def _begin(alive: Connection) -> None:
    """Let a worker ignore Ctrl-C, which is for its parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(alive,), daemon=True).start()


def _follow(alive: Connection) -> None:
    """End this process when the other end of a pipe is closed, as it is when its process dies."""
    with suppress(EOFError, OSError):
        alive.recv_bytes()
    os._exit(1)


# Executors of other packages: a cluster of Dask, and the processes of MPI


_PATIENCE = 15  # seconds to wait for a scheduler
_START = "mpiexec -n 4 python -m mpi4py.futures -m obliv"
_LIBRARY = "install one, such as  apt install openmpi-bin  on Debian and Ubuntu, or  pip install mpich"
_LOGGERS = ("distributed", "distributed.client")  # each has a level of its own


@contextmanager
def dask(address: str, jobs: int | None = None) -> Iterator[Executor]:
    """Connect to a scheduler of Dask, or start workers on this machine, and give an executor of them."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise extra("distributed", "dask") from None
    with _silenced():
        yield from _connected(address, jobs, Client, LocalCluster)


@contextmanager
def _silenced() -> Iterator[None]:
    """Silence the log of Dask, which warns of slow, lost and closing connections where all goes well in the end."""
    levels = [(logging.getLogger(name), logging.getLogger(name).level) for name in _LOGGERS]
    for logger, _ in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)


def _connected(address: str, jobs: int | None, Client: Any, LocalCluster: Any) -> Iterator[Executor]:
    where: Any = address
    if address == "local":
        count = jobs or default_jobs()
        quiet: Any = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        where = LocalCluster(n_workers=count, threads_per_worker=1, **quiet)
    try:
        client = Client(where, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"the scheduler {address} does not answer: {reason}") from None
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        client.close()
        raise InputError(
            f"the scheduler {address} has no workers: start some, such as  dask worker {address}"
        ) from None
    try:
        executor = client.get_executor(pure=False)
        executor.num_workers = sum(client.nthreads().values())
        yield executor
    finally:
        client.close()
        if address == "local":
            where.close()


@contextmanager
def mpi() -> Iterator[Executor]:
    """Give an executor of the other processes of MPI (``mpiexec -n 4 python -m mpi4py.futures -m obliv ...``)."""
    if find_spec("mpi4py") is None:
        raise extra("mpi4py", "mpi")
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"mpi4py is installed, but a library of MPI is not: {_LIBRARY} ({reason:.120})") from None
    if MPI.COMM_WORLD.Get_size() == 1:
        raise InputError(f"MPI has one process only: start it with  {_START}")
    modules = [sys.modules.get(f"mpi4py.futures.{name}") for name in ("_core", "_lib")]  # of releases 4 and 3
    if any(getattr(module, "SharedPool", True) is None for module in modules):  # each process would work for itself
        raise InputError(f"the processes of MPI do not work together: start them with  {_START}")
    with MPIPoolExecutor() as executor:
        yield executor
