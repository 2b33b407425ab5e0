"""HiGHS: solve a linear programme, by simplex where a vertex is wanted, by a first-order method where it is large."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from threading import Thread
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from obliv._util.arrays import Array
from obliv._util.progress import deferred
from obliv.designs.exact import Basis
from obliv.errors import OblivError, extra

__all__ = [
    "FEWER_MAGNITUDES",
    "NO_PATHS",
    "Optimum",
    "SlowError",
    "SolverError",
    "SolverTimeError",
    "require_solver",
    "require_time",
    "solve",
    "time_limit",
]

NO_PATHS = "the flows of the linear program hold no paths; report this network"
FEWER_MAGNITUDES = "bandwidths or rates that differ by fewer orders of magnitude may help"
_VERSION = "highspy 1.15 or later"
_NAMES = ("Highs", "HighsLp", "MatrixFormat", "HighsStatus", "HighsModelStatus", "HighsBasisStatus")
_NEAR = 1e-7  # relative accuracy of a solution near which a basis is looked for
_PRIMAL = 4  # the number that HiGHS gives the primal simplex method


class SolverError(OblivError):
    """The solver stopped without a solution."""


class SlowError(SolverError):
    """The first-order method did not converge within a number of iterations."""


class SolverTimeError(SolverError):
    """A time limit ended the work."""


_deadline: ContextVar[float] = ContextVar("deadline", default=inf)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let solvers, and work that calls :func:`require_time`, raise OutOfTimeError after some time from now on."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def require_time() -> None:
    """Raise OutOfTimeError if the time limit is over."""
    if time.monotonic() > _deadline.get():
        raise SolverTimeError("the time limit is over")


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a solver returns: an approximate solution and multipliers, believed only as far as certificates go.

    Parameters
    ----------
    columns : float array
        The value of every column.
    duals : float array
        The multiplier of every row.
    feasible : bool
        Whether the programme has a solution at all, according to the solver.
    basis : Basis or None
        Where the simplex method ended.
    """

    columns: Array
    duals: Array
    feasible: bool
    basis: Basis | None = None


def solve(
    matrix: csc_array,
    lower: Array,
    upper: Array,
    cost: Array,
    *,
    tolerance: float | None,
    from_zero: bool = False,
    crossover: bool = False,
    columns: tuple[Array, Array] | None = None,
    interior: bool = False,
    start: Basis | None = None,
    iterations: int | None = None,
) -> Optimum:
    """Minimize costs over columns that are 0 or more, with rows between two limits.

    Shapes: `matrix` (rows, columns), `lower` and `upper` (rows,), `cost` (columns,).
    """
    highs, highspy = _highs()
    options: dict[str, object] = {"output_flag": False, "threads": 1}  # one thread: the same answer every time
    if from_zero:
        options |= {"simplex_strategy": _PRIMAL, "presolve": "off", "dual_feasibility_tolerance": 1e-9}
    options |= {"solver": "simplex"} if tolerance is None else _first_order(tolerance)
    if start is not None:
        options["simplex_strategy"] = _PRIMAL
    if interior:
        options |= {"solver": "ipm", "run_crossover": "off"}
    if iterations is not None:
        options["pdlp_iteration_limit"] = iterations
    left = _deadline.get() - time.monotonic()
    if left < inf:
        options["time_limit"] = max(left, 0.01)
    _set(highs, highspy, options)
    error = highspy.HighsStatus.kError

    def task() -> Any:
        if crossover and tolerance is None:  # in this thread, where the solver has run: elsewhere it crashes
            _cross_over(highs, highspy, matrix, options)
        return highs.run()

    loaded = highs.passModel(_model(highspy, matrix, (lower, upper), cost, columns))
    if start is not None and loaded != error:
        loaded = highs.setBasis(_highs_basis(highspy, start))
    if loaded == error or _run(highs, task) == error:
        reason = highs.modelStatusToString(highs.getModelStatus())
        raise SolverError(f"the solver failed ({reason}); {FEWER_MAGNITUDES}")
    status = highs.getModelStatus()
    known = highspy.HighsModelStatus
    solution = highs.getSolution()
    if status in (known.kInfeasible, known.kUnboundedOrInfeasible):
        return Optimum(np.zeros(len(cost)), np.zeros(len(lower)), feasible=False)
    if status == known.kTimeLimit:
        raise SolverTimeError("the time limit is over")
    if iterations is not None and status == known.kIterationLimit:
        raise SlowError(f"the solver did not converge within {iterations:,} iterations")
    # after a loosened tolerance the status may be "unknown" although the solution is good
    if status not in (known.kOptimal, known.kUnknown) or not solution.value_valid:
        raise SolverError(f"the solver stopped without a solution: {highs.modelStatusToString(status)}")
    basis = _basis(highs, highspy) if tolerance is None else None
    return Optimum(np.array(solution.col_value), np.array(solution.row_dual), feasible=True, basis=basis)


def _model(
    highspy: Any, matrix: csc_array, rows: tuple[Array, Array], cost: Array, columns: tuple[Array, Array] | None
) -> Any:
    """Return a linear programme as the solver takes it."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = columns or (np.zeros(len(cost)), np.full(len(cost), np.inf))
    model.row_lower_, model.row_upper_ = rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    return model


def _cross_over(highs: Any, highspy: Any, matrix: csc_array, options: dict[str, object]) -> None:
    """Let the simplex method start at a basis near a solution of the first-order method."""
    _set(highs, highspy, _first_order(_NEAR))
    highs.run()
    values = np.array(highs.getSolution().col_value)
    values[values < 10 * _NEAR] = 0
    near = highspy.HighsSolution()
    near.col_value, near.row_value = values, matrix @ values
    near.col_dual, near.row_dual = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[0])
    near.value_valid, near.dual_valid = True, False
    _set(highs, highspy, {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7, **options})
    highs.crossover(near)  # without a basis the simplex method starts anew


def _first_order(tolerance: float) -> dict[str, object]:
    """Return the options of the first-order method."""
    least = max(tolerance, 1e-10)
    options = {"kkt_tolerance": tolerance, "primal_feasibility_tolerance": least, "dual_feasibility_tolerance": least}
    return {"solver": "hipdlp", **options}


def _set(highs: Any, highspy: Any, options: dict[str, object]) -> None:
    for name, value in options.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise extra(_VERSION, "design")


def _basis(highs: Any, highspy: Any) -> Basis | None:
    """Return the basis of the simplex method, if there is one."""
    basis, names = highs.getBasis(), highspy.HighsBasisStatus
    if not basis.valid:
        return None
    columns = np.array([status == names.kBasic for status in basis.col_status], bool)
    rows = np.array([status != names.kBasic for status in basis.row_status], bool)
    return Basis(columns, rows, np.array([status == names.kUpper for status in basis.row_status], bool))


def _highs_basis(highspy: Any, basis: Basis) -> Any:
    """Return a basis as the solver takes it."""
    names, result = highspy.HighsBasisStatus, highspy.HighsBasis()
    result.col_status = [names.kBasic if basic else names.kLower for basic in basis.columns.tolist()]
    limits = [names.kUpper if upper else names.kLower for upper in basis.at_upper.tolist()]
    result.row_status = [
        limit if tight else names.kBasic for limit, tight in zip(limits, basis.rows.tolist(), strict=True)
    ]
    result.valid = True
    return result


def require_solver() -> None:
    """Raise MissingExtraError unless the solver is installed."""
    _highs()


def _run(highs: Any, task: Callable[[], Any]) -> Any:
    """Run the solver in a thread of its own, so that Ctrl-C does not wait for it."""
    status: list[Any] = []
    failures: list[Exception] = []

    def work() -> None:
        try:
            status.append(task())
        except Exception as error:
            failures.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except KeyboardInterrupt:
        highs.cancelSolve()
        raise
    if failures:
        raise SolverError(f"the solver failed: {failures[0]!s:.200}") from failures[0]
    return status[0]


def _highs() -> tuple[Any, Any]:
    try:
        with deferred():  # interrupted, it says that it cannot be imported
            highspy: Any = importlib.import_module("highspy")
    except ImportError:
        raise extra("highspy", "design") from None
    highs = _quiet(highspy) if all(hasattr(highspy, name) for name in _NAMES) else None
    if highs is None or highs.setOptionValue("kkt_tolerance", 1e-4) != highspy.HighsStatus.kOk:
        raise extra(_VERSION, "design")
    return highs, highspy


def _quiet(highspy: Any) -> Any:
    """Return a solver that prints nothing: highspy 1.16 prints its version when a solver is made."""

    class Quiet(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return Quiet()
