"""Executors of other packages: a cluster of Dask, and the processes of MPI."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from obliv._util.executors import default_jobs
from obliv.errors import InputError, extra

__all__ = ["dask", "mpi"]

_PATIENCE = 15  # seconds to wait for a scheduler
_START = "mpiexec -n 4 python -m mpi4py.futures -m obliv"
_LIBRARY = "install one, such as  apt install openmpi-bin  on Debian and Ubuntu, or  pip install mpich"
_LOGGERS = ("distributed", "distributed.client")  # each has a level of its own


@contextmanager
def dask(address: str, jobs: int | None = None) -> Iterator[Executor]:
    """Connect to a scheduler of Dask, or start workers on this machine, and give an executor of them.

    Parameters
    ----------
    address : str
        For example ``tcp://host:8786``; ``local`` starts workers.
    jobs : int, optional
        Number of these workers; default as many as cores and memory suffice for.

    Raises
    ------
    InputError
        If the scheduler does not answer.
    MissingExtraError
        If distributed is not installed.
    """
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
    """Give an executor of the other processes of MPI (``mpiexec -n 4 python -m mpi4py.futures -m obliv ...``).

    Raises
    ------
    MissingExtraError
        If mpi4py is not installed.
    InputError
        If there is no library of MPI, or there are no other processes.
    """
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
