"""Running a study: cells go to an executor, finished ones into the store; the work of one process; errors of cells."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import traceback
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import obliv
from obliv._util.executors import Serial, executor_of, width_of
from obliv._util.files import require_place
from obliv._util.progress import Note, Progress, rising, silent, within
from obliv._util.rationals import boolean
from obliv._util.text import plural
from obliv._util.toml import strings_of
from obliv.errors import (
    FileError,
    InputError,
    Interrupted,
    OblivError,
    RoutingError,
    TooLargeError,
    TopologyError,
    TrafficError,
)
from obliv.results.base import provenance
from obliv.results.study import StudyCell, StudyRun, by_reason
from obliv.specs.registry import ROUTINGS, run_files
from obliv.study.measures import Cell
from obliv.study.reading import Plan, read, sha256_of
from obliv.study.store import Outcome, Store, encoded, intact, opened

if TYPE_CHECKING:
    from obliv.results.base import Result
    from obliv.routings.base import Routing
    from obliv.study.measures import Cell
    from obliv.study.reading import Plan
    from obliv.topologies.base import Topology


# The work of one process: cells computed one after another, each with its result or the reason why there is none


def compute(cells: Sequence[Cell], imports: Sequence[str] = (), progress: Progress = silent) -> list[Outcome]:
    """Compute cells in this process, after running the Python files that register names."""
    _imported(tuple(imports))
    outcomes = []
    for cell in cells:
        outcomes.append(_outcome(cell, _naming(cell, progress)))
    return outcomes


def _naming(cell: Cell, progress: Progress) -> Progress:
    """Return a progress function whose texts begin with the name of a cell."""
    name = " ".join(part for part in (cell.topology, cell.routing, cell.measure) if part)
    return lambda what, share: progress(f"{name}: {what}", share)


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


# Errors of cells, with the line of the study file that they come from


_NAME = re.compile(r"\\{\w+\\}")  # in an escaped spec
_WHERE = "correct the path, which starts from the current directory"


def at_its_line(plan: Plan, cell: Cell, error: InputError) -> FileError:
    """Return an error of a cell with the line of its spec; one inside of a file that a spec names stays as it is."""
    about = f"{cell}: {error}"
    if isinstance(error, FileError):
        if error.line is not None or error.path is None or os.path.isfile(str(error.path)):
            return error
        about = f"{error}: {_WHERE}" if error.message == "file not found" else str(error)
    texts = [cell.topology, cell.routing or "", *map(str, cell.options.values())]
    specs = {text for text in texts if text and (text in str(error) or _names(text, error))}
    line = next((line for text, line in strings_of(plan.text) if any(map(_pattern(text).fullmatch, specs))), None)
    return FileError(about, plan.path or None, line if plan.path else None)


def _names(spec: str, error: InputError) -> bool:
    return isinstance(error, FileError) and str(error.path) in spec


def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of what a spec can be with values for its names in braces."""
    return re.compile(_NAME.sub(".+", re.escape(text.strip())))


_GROUP = 0.5  # seconds between two writes
_CALL = 0.25  # seconds of work in one call
_BLOCK = 512  # cells of one call
_BEAT = 10.0  # seconds between two signs of life
_DEATHS = 3  # of workers, without a single result, after which there will be no other

#: What one topology or routing cannot do, another may.
_MISFIT = (RoutingError, TopologyError, TrafficError, TooLargeError)


def impossible(
    plan: Plan, cells: Sequence[Cell] | None = None, progress: Progress | None = None
) -> list[tuple[Cell, str]]:
    """Return the cells of a study that do not fit together, such as a routing on a topology, with the reason.

    Parameters
    ----------
    plan : Plan
    cells : sequence of Cell, optional
        Those to look at; default all.
    progress : callable, optional
        Called with what is being done and the share that is done, and with the notes of topologies and routings.
        Every routing is built once, but for those that are designed, which say themselves what they fit.
    """
    misfits = []
    shown = set()
    progress = rising(progress)
    cells = plan.cells if cells is None else cells
    for k, cell in enumerate(cells):
        progress("checking what fits together", k / len(cells))
        try:
            require(cell)
            for note in notes_of(cell):
                if note not in shown:
                    shown.add(note)
                    progress(Note(note), k / len(cells))
        except _MISFIT as error:
            misfits.append((cell, str(error)))
        except InputError as error:
            raise at_its_line(plan, cell, error) from None
    return misfits


def run(
    plan: Plan | str | Path,
    store: str | Path,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    skip_impossible: bool = False,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Compute the cells of a study that the store does not have yet.

    Parameters
    ----------
    plan : Plan or path-like
        From :func:`obliv.study.read`, or the file.
    store : path-like
        SQLite file; it is made where there is none. One run may use it at a time.
    executor : concurrent.futures.Executor, optional
        Where cells are computed; it must be able to pickle them. Default: processes of its own.
    jobs : int, optional
        Number of these processes; default as many as cores and free memory suffice for. With 1, cells are computed in
        the calling process. With `executor`: how many calls it can run at a time, where it does not say so.
    skip_impossible : bool
        Leave out cells that do not fit together instead of refusing the study.
    retry_failed : bool
        Compute cells again that failed before, or whose results are damaged.
    progress : callable, optional
        Called with the numbers of cells done, failed and left, and the share that is done.

    Returns
    -------
    StudyRun
        The numbers of cells, and those that failed with their reasons.

    Raises
    ------
    FileError
        If the file or the store cannot be used, or cells do not fit together.
    Interrupted
        By Ctrl-C; finished cells are in the store.

    Notes
    -----
    A cell is stored under a key of its specs, the files that they name, its options and the version of its method. The
    result does not depend on the executor. If a worker process dies, the cells it may have worked on are computed
    again, one at a time; a cell fails if its own process dies twice.
    """
    skip_impossible, retry_failed = boolean(skip_impossible, "skip_impossible"), boolean(retry_failed, "retry_failed")
    began = time.perf_counter()
    plan = plan if isinstance(plan, Plan) else read(plan)
    step, misfits = rising(progress), None
    if not os.path.exists(store):  # a study that is refused leaves no file
        require_place(store)
        misfits = impossible(plan, progress=within(step, 0.0, 0.1))
        _require_rest(plan, misfits, skip_impossible)
    with ExitStack() as stack:
        db = stack.enter_context(opened(store, write=True))
        if misfits is None:
            known = db.status()
            left = [cell for cell in plan.cells if known.get(cell.key, ("", ""))[0] != "done"]
            misfits = impossible(plan, left, step)
            _require_rest(plan, misfits, skip_impossible)
        stack.enter_context(_running(db))
        state = _prepared(db, plan, misfits, retry_failed, step)
        found = state.done

        def result() -> StudyRun:
            return StudyRun(
                provenance=provenance({"study": plan.name}, time.perf_counter() - began),
                name=plan.name,
                store=str(store),
                cells=len(plan.cells),
                done=state.done,
                computed=state.computed,
                found=found,
                failed=tuple(
                    _shown(cell, state.failed[key]) for key, cell in state.cells.items() if key in state.failed
                ),
                skipped=tuple(_shown(cell, reason) for cell, reason in state.misfits),
            )

        try:
            with _used(executor, jobs, len(state.pending)) as chosen:
                _work(state, chosen, width_of(chosen, jobs))
        except KeyboardInterrupt:
            where = f"after {state.done} of {plural(len(state.cells), 'cell')}, which are in {store}"
            raise Interrupted(f"{where}; run the same command to go on", result()) from None
        return result()


def _prepared(
    db: Store,
    plan: Plan,
    misfits: list[tuple[Cell, str]],
    retry_failed: bool,
    progress: Progress,
) -> _State:
    """Enter a study without its impossible cells in the store, and return what there is to do."""
    known = db.status()

    def status(cell: Cell) -> str:
        return known.get(cell.key, ("", ""))[0]

    left_out = {cell.key for cell, _ in misfits}
    cells = [cell for cell in plan.cells if cell.key not in left_out]
    db.enroll(plan.name, plan.text, cells)
    finished = {"done"} if retry_failed else {"done", "failed"}
    if retry_failed:
        known |= {cell.key: ("stale", "") for cell in db.cells(plan.name) if intact(db, cell)[0].status == "damaged"}
    db.reset([cell.key for cell in cells if status(cell) == "stale"], "done")
    db.reset([cell.key for cell in cells if status(cell) == "failed" and retry_failed], "failed")
    return _State(
        db,
        {cell.key: cell for cell in cells},
        plan.imports,
        progress,
        pending=deque(cell.key for cell in cells if status(cell) not in finished),
        failed={cell.key: known[cell.key][1] for cell in cells if status(cell) in finished - {"done"}},
        done=sum(status(cell) == "done" for cell in cells),
        misfits=misfits,
    )


class ImpossibleError(FileError):
    """Cells of a study that do not fit together.

    Attributes
    ----------
    lines : tuple of str
        Each of them with the reason.
    """

    def __init__(self, message: str, path: object = None, line: int | None = None, lines: Sequence[str] = ()) -> None:
        super().__init__(message, path, line)
        self.lines = tuple(lines)


def _require_rest(plan: Plan, misfits: Sequence[tuple[Cell, str]], skip: bool) -> None:
    """Refuse a study with cells that do not fit together, unless they may be left out and others are left."""
    if not misfits or (skip and len(misfits) < len(plan.cells)):
        return
    lines = [f"{cells}: {reason}" for cells, reason in by_reason([_shown(*misfit) for misfit in misfits])]
    count = f"{len(misfits):,} of {plural(len(plan.cells), 'cell')} cannot be computed"
    hint = "none is left" if skip else "leave them out by a filter, or by {skip_impossible}=True"
    error = ImpossibleError.naming("{0}: " + hint, count, path=plan.path or None)
    error.lines = tuple(lines)
    raise error


def _shown(cell: Cell, reason: str) -> StudyCell:
    return StudyCell(cell.topology, cell.routing, cell.measure, cell.options, cell.seed, reason)


@contextmanager
def _running(db: Store) -> Iterator[None]:
    """Enter a run in the store, give signs of life for it from a thread, and remove it at the end."""
    number = db.begin()
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(_BEAT):
            with suppress(OblivError), opened(db.path, write=True) as own:
                own.beat(number)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        db.end(number)


@contextmanager
def _used(executor: Executor | None, jobs: int | None, cells: int) -> Iterator[Executor]:
    """Return a given executor as it is, or one of our own, which is ended at once if the work is stopped."""
    if executor is not None:
        yield executor
        return
    own = executor_of(jobs) if cells > 1 else Serial()
    try:
        yield own
    except BaseException:
        own.shutdown(wait=False, cancel_futures=True)
        raise
    own.shutdown()


@dataclass
class _State:
    """What a run knows of its cells: keys that wait, are in work, or to be written."""

    db: Store
    cells: dict[str, Cell]
    imports: tuple[str, ...]
    progress: Progress
    pending: deque[str]
    failed: dict[str, str]
    done: int
    misfits: list[tuple[Cell, str]]
    computed: int = 0
    suspects: deque[str] = field(default_factory=deque)  # were in work when a worker died
    killers: set[str] = field(default_factory=set)  # whose worker died with no other cell: by chance, or by them
    large: deque[str] = field(default_factory=deque)  # had too little memory beside others
    flying: dict[Future[list[Outcome]], list[str]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    written: float = field(default_factory=time.monotonic)
    seen: int = 0
    deaths: int = 0
    tried: int = 0
    seconds: float = 0.0  # that the cells tried so far took, those at the start apart

    def report(self) -> None:
        """Report the numbers of cells."""
        total, finished = len(self.cells), self.done + len(self.failed)
        self.progress(f"{self.done} done, {len(self.failed)} failed, {total - finished} left", finished / total)

    def within_next(self, executor: Executor) -> Progress:
        """Return the progress function of the next cell; it does not reach other processes."""
        if not isinstance(executor, Serial) or self.progress is silent:
            return silent
        finished, total = self.done + len(self.failed), len(self.cells)
        return within(self.progress, finished / total, min(1.0, (finished + 1) / total))


def _work(state: _State, executor: Executor, width: int) -> None:
    """Compute and write until every cell is finished."""
    state.report()
    try:
        while True:
            _submit(state, executor, width)
            if not state.flying:
                break
            _collect(state, width)
            if time.monotonic() - state.written > _GROUP:
                _write(state, width)
    except BaseException:
        _rescue(state, width)
        raise
    _write(state, width)


def _size(state: _State, width: int) -> int:
    """Return how many cells go to one call: some tenths of a second of work, one where Ctrl-C would lose others."""
    if width == 1 or not state.tried:
        return 1
    return max(1, min(_BLOCK // (4 * width), int(_CALL * state.tried / max(state.seconds, 1e-9))))


def _submit(state: _State, executor: Executor, width: int) -> None:
    """Give cells to the executor, those that broke it or needed its memory one at a time."""
    alone = state.suspects or (state.large if not state.pending else None)
    if alone:
        if not state.flying:
            _call(state, executor, [alone[0]])
        return
    size = _size(state, width)
    while state.pending and len(state.flying) < (2 * width if width > 1 else 1):
        _call(state, executor, _next(state, state.pending, min(size, len(state.pending)), width))


def _next(state: _State, queue: deque[str], count: int, width: int) -> list[str]:
    """Take keys from the head of a queue, and with the last one those whose routing should be made only once."""
    keys = [queue.popleft() for _ in range(count)]
    while width > 1 and queue and made_alike(state.cells[keys[-1]], state.cells[queue[0]]):
        keys.append(queue.popleft())
    return keys


def _call(state: _State, executor: Executor, keys: list[str]) -> None:
    cells = [state.cells[key] for key in keys]
    try:
        future = executor.submit(compute, cells, state.imports, state.within_next(executor))
    except Exception as error:  # those of an executor of another package may be anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise OblivError(f"the executor takes no more work ({reason}); finished cells are kept") from None
    state.flying[future] = keys


def _collect(state: _State, width: int) -> None:
    """Take what is finished."""
    for future in wait(state.flying, timeout=_GROUP, return_when=FIRST_COMPLETED).done:
        keys = state.flying.pop(future)
        alone = _removed(keys[0], state.suspects) or _removed(keys[0], state.large)
        try:
            outcomes = future.result()
        except (BrokenExecutor, CancelledError):  # cancelled by a scheduler that has gone
            if not alone or not state.seen or keys[0] not in state.killers:
                state.killers |= {*keys} if alone else set()
                state.suspects += keys
                _require_life(state, alone)
                continue
            outcomes = [Outcome(keys[0], 0.0, "its process died three times; there may be too little memory")]
        except Exception as error:
            outcomes = [Outcome(key, 0.0, f"{type(error).__name__}: {error}") for key in keys]
        for outcome in outcomes:
            state.seen += 1
            if state.seen > 2 * width:  # the first ones load modules and compiled loops
                state.tried, state.seconds = state.tried + 1, state.seconds + outcome.seconds
            if outcome.retry and not alone and width > 1:
                state.large.append(outcome.key)
            else:
                state.outcomes.append(outcome)


def _require_life(state: _State, alone: bool) -> None:
    """Refuse an executor whose workers died again and again, and none of which has computed a cell."""
    state.deaths += alone and not state.seen
    if state.deaths == _DEATHS:
        raise OblivError(
            "worker processes die as soon as they begin: in a script, call run below  if __name__ == '__main__':, "
            "or use jobs=1"
        )


def _removed(key: str, queue: deque[str]) -> bool:
    """Remove a key from the head of a queue; return whether it was there."""
    if queue and queue[0] == key:
        queue.popleft()
        return True
    return False


def _write(state: _State, width: int) -> None:
    """Write the results so far in one transaction."""
    state.written = time.monotonic()
    if not state.outcomes:
        return
    state.db.finish(state.outcomes)
    for outcome in state.outcomes:
        if outcome.reason:
            state.failed[outcome.key] = outcome.reason
        else:
            state.done += 1
    state.computed += len(state.outcomes)
    state.outcomes = []
    state.report()


def _rescue(state: _State, width: int) -> None:
    """Write what is finished when the work is stopped."""
    for future, _ in list(state.flying.items()):
        if not future.cancel() and future.done() and not future.cancelled() and future.exception() is None:
            state.outcomes += [outcome for outcome in future.result() if not outcome.retry]
    with suppress(OblivError):
        _write(state, width)
