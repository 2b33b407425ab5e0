"""The work of one process: cells computed one after another, each with its result or the reason why there is none."""

from __future__ import annotations

import json
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import obliv
from obliv._util.cost import Cost, listening
from obliv._util.progress import Progress, silent
from obliv.errors import OblivError, TooLargeError
from obliv.specs.imports import run_files
from obliv.specs.registry import ROUTINGS
from obliv.study.cells import Cell
from obliv.study.inputs import sha256_of
from obliv.study.store import Outcome
from obliv.study.stored import encoded

if TYPE_CHECKING:
    from obliv.results import Result
    from obliv.routings.base import Routing
    from obliv.topologies.base import Topology

__all__ = ["compute", "made_alike", "notes_of", "require", "said_on_standard_error"]


def compute(cells: Sequence[Cell], imports: Sequence[str] = (), progress: Progress = silent) -> list[Outcome]:
    """Compute cells in this process, after running the Python files that register names."""
    _imported(tuple(imports))
    outcomes = []
    for cell in cells:
        step = _naming(cell, progress)
        with listening(step):
            outcomes.append(_outcome(cell, step))
    return outcomes


def said_on_standard_error(what: str, share: float) -> None:
    """Say what long work will take, for a process that has no other way to its user."""
    if isinstance(what, Cost):
        print(f"obliv: {what}", file=sys.stderr, flush=True)


def _naming(cell: Cell, progress: Progress) -> Progress:
    """Return a progress function that passes on only what the work of a cell will take, with the name of the cell."""

    def step(what: str, share: float) -> None:
        if isinstance(what, Cost):
            name = " ".join(part for part in (cell.topology, cell.routing, cell.measure) if part)
            progress(Cost(f"{name}: {what}", what.seconds), share)

    return step


def require(cell: Cell) -> None:
    """Raise an error if a cell cannot be computed, as far as that shows before the work.

    A routing that is long in the making is not made for that: it says itself which topologies it fits.
    """
    if fits := _long_in_the_making(cell):
        fits(_topology(cell.topology, cell.files))
    else:
        cell.method.require(_subject(cell), cell.options)


def notes_of(cell: Cell) -> tuple[str, ...]:
    """Return the notes of the topology and the routing of a cell, such as conventions of their capacity."""
    if _long_in_the_making(cell):
        return tuple(_topology(cell.topology, cell.files).notes)
    subject = _subject(cell)
    return tuple(subject.notes) if cell.routing is None else (*subject.topology.notes, *subject.notes)


def made_alike(one: Cell, two: Cell) -> bool:
    """Return whether two cells share a routing that is long in the making, so that one process should compute both."""
    same = (one.topology, one.routing, one.files) == (two.topology, two.routing, two.files)
    return same and _long_in_the_making(one) is not None


def _long_in_the_making(cell: Cell) -> Callable[[Topology], None] | None:
    """Return the check of a routing that is long in the making; None for all others."""
    return None if cell.routing is None else _check_of(cell.routing)


@lru_cache(maxsize=64)
def _check_of(routing: str) -> Callable[[Topology], None] | None:
    try:
        make = ROUTINGS.find(routing.partition(":")[0].strip()).make
    except OblivError:  # a mix, or no routing
        return None
    return getattr(make, "fits", None)


def _outcome(cell: Cell, progress: Progress) -> Outcome:
    began = time.perf_counter()

    def failed(reason: str, retry: bool = False) -> Outcome:
        return Outcome(cell.key, time.perf_counter() - began, " ".join(reason.split()), retry=retry)

    try:
        seed = {} if cell.seed is None else {"seed": cell.seed}
        result = cell.method.compute(_subject(cell), progress, **cell.options, **seed)
    except TooLargeError as error:
        return failed(str(error), retry=True)
    except OblivError as error:
        return failed(str(error))
    except MemoryError:
        return failed("the problem does not fit in memory; choose a smaller network", retry=True)
    except Exception as error:
        steps = traceback.extract_tb(error.__traceback__)
        place = f"{Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else "an unknown place"
        return failed(f"{type(error).__name__} at {place}: {error}")
    try:
        sources = _other_sources(cell, result)
    except OblivError as error:
        return failed(str(error))
    return _stored(cell, result, sources, time.perf_counter() - began)


def _stored(cell: Cell, result: Result, sources: list[tuple[str, str]], seconds: float) -> Outcome:
    headline = {name: encoded(value) for name, value in cell.method.headline(result, cell.options).items()}
    rows = [
        {name: encoded(value) for name, value in row.items() if name not in ("topology", "routing")}
        for row in cell.method.rows(result)
    ]
    whole = json.dumps(result.to_dict(), separators=(",", ":"), ensure_ascii=True).encode("ascii")
    return Outcome(
        cell.key,
        seconds,
        headline=json.dumps(headline),
        rows=json.dumps(rows),
        result=zlib.compress(whole, 3),
        sources=json.dumps(sources),
    )


def _other_sources(cell: Cell, result: Result) -> list[tuple[str, str]]:
    """Return the files that were read and that the specs do not name; OblivError if one of the others changed."""
    known = dict(cell.files)
    read = result.provenance.sources if result.provenance is not None else {}
    for path, digest in read.items():
        if known.get(path, digest) != digest:
            raise OblivError(f"{path} changed during the study: run it again")
    for path, digest in known.items():
        if path not in read and sha256_of(path) != digest:
            raise OblivError(f"{path} changed during the study: run it again")
    return [(path, digest) for path, digest in read.items() if path not in known]


def _subject(cell: Cell) -> Any:
    return (
        _topology(cell.topology, cell.files)
        if cell.routing is None
        else _routing(cell.topology, cell.routing, cell.files)
    )


# The measures of one routing come one after another, and so do the routings on one topology. The files are part of the
# arguments, so that nothing old is returned for a file that changed.


@lru_cache(maxsize=2)
def _topology(spec: str, files: tuple[tuple[str, str], ...]) -> Topology:
    return obliv.topology(spec)


@lru_cache(maxsize=2)
def _routing(topology: str, spec: str, files: tuple[tuple[str, str], ...]) -> Routing:
    return obliv.routing(spec, _topology(topology, files))


@lru_cache(maxsize=1)
def _imported(imports: tuple[str, ...]) -> None:
    run_files(imports)
