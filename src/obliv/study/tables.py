"""What a store holds: its table, its export, its difference from another one, and the check of its claims."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from obliv import __version__
from obliv._util.files import paths_of, write_whole
from obliv._util.progress import Progress, rising
from obliv._util.text import did_you_mean
from obliv.checker.verify import verify as check
from obliv.errors import FileError, InputError, OblivError, extra
from obliv.results.base import provenance
from obliv.results.numbers import spread, to_csv
from obliv.results.study import CellVerdict, Difference, Study, StudyDiff, StudyRow, StudyVerification, decoded
from obliv.routings.make import routing as routing_of
from obliv.specs.untrusted import bounded
from obliv.study.measures import Cell
from obliv.study.store import Store, Stored, intact, opened


def show(store: str | Path, study: str = "") -> Study:
    """Return the table of a store.

    Parameters
    ----------
    store : path-like
    study : str
        Name of a study; by default all cells of all studies in the store.

    Raises
    ------
    FileError
        If the store cannot be read.
    InputError
        If there is no such study.
    """
    with opened(store) as db:
        rows = [entry_of(stored) for stored in cells_of(db, study)]
        name = study or ", ".join(db.names())
    return Study(provenance=provenance({"study": name}, 0.0), name=name, entries=tuple(rows))


def entry_of(stored: Stored) -> StudyRow:
    """Return a cell of a store with what the table shows of it."""
    figures = {name: decoded(value) for name, value in stored.headline.items()}
    return StudyRow(**_fields(stored), reason=stored.reason, status=stored.status, figures=figures)


def export(store: str | Path, form: str = "csv", study: str = "") -> str:
    """Return everything that a store holds, certificates apart, as text.

    Parameters
    ----------
    store : path-like
    form : {"csv", "json"}
        CSV has a line for each row of each result, cells without a result one line; JSON has all results.
    study : str
        Name of a study; by default all.
    """
    if form == "csv":
        return to_csv(_rows(store, study), ("topology", "routing", "measure", "seed", "status", "reason"))
    if form != "json":
        raise InputError(f"unknown format {form!r}: {did_you_mean(form, ('csv', 'json'))}")
    cells = []
    with opened(store) as db:
        for cell in cells_of(db, study):
            stored, _ = intact(db, cell)
            result = db.result(stored.key) if stored.status == "done" else None
            proof = ("certificate", "instance", "moves", "plan", "paths")
            bare = None if result is None else {name: value for name, value in result.items() if name not in proof}
            if bare is not None:
                bare["provenance"] = {k: v for k, v in bare.get("provenance", {}).items() if k != "wall_seconds"}
            about = _fields(stored) | {"status": stored.status, "reason": stored.reason or None}
            cells.append(about | {"result": bare})
        data = {"kind": "study-export", "studies": db.names(), "version": __version__, "cells": cells}
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def write_parquet(store: str | Path, path: str | Path, study: str = "") -> None:
    """Write the rows that :func:`export` gives as CSV in the format of Parquet (needs pandas and pyarrow)."""
    import io

    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        raise extra("pyarrow", "parquet") from None
    frame = pandas.DataFrame([spread(row) for row in _rows(store, study)])
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    write_whole(path, buffer.getvalue())


def diff(first: str | Path, second: str | Path) -> StudyDiff:
    """Return how two stores differ: cells are compared by topology, routing, measure, options and seed.

    Files that specs name may differ, which is what the difference is about; times and proofs are not compared. A cell
    that is damaged, or whose figures are not those of its result, differs from any other.
    """
    one, two = (_by_identity(path) for path in (first, second))
    differences = []
    same = 0
    for identity in one.keys() & two.keys():
        unlike = _unlike(one[identity], two[identity])
        same += not unlike
        differences += unlike
    order = {identity: k for k, identity in enumerate(one)}
    differences.sort(key=lambda row: order[_identity(row)])
    return StudyDiff(
        provenance=provenance({"first": str(first), "second": str(second)}, 0.0),
        first=str(first),
        second=str(second),
        same=same,
        only_first=len(one.keys() - two.keys()),
        only_second=len(two.keys() - one.keys()),
        differences=tuple(differences),
    )


def verify(
    store: str | Path,
    study: str = "",
    *,
    budget: float = 300.0,
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    progress: Progress | None = None,
) -> StudyVerification:
    """Check every claim in a store with independent code; see :func:`obliv.verify`.

    A cell whose result is damaged, or not what its figures say, has the verdict ``damaged``; the others are checked.

    Parameters
    ----------
    store : path-like
    study : str
        Name of a study; by default all.
    budget : float
        Time limit in seconds for each claim; what is not checked in time is not proved.
    files : path-like or several of them, optional
        Files, and folders of files, that specs in the store may name, besides those in the folder of the store.
    progress : callable, optional
        Called with the cell that is being checked, and the share that is done.
    """
    progress = rising(progress)
    verdicts = []
    allowed = [Path(store).parent, *paths_of(files)]
    with opened(store) as db, tempfile.TemporaryDirectory() as folder:
        db.check()
        done = [stored for stored in cells_of(db, study) if stored.status in ("done", "damaged")]
        for k, stored in enumerate(done):
            progress(str(stored.cell), k / len(done))
            verdict, reason = _verdict(db, stored, Path(folder) / "claim.json", budget, allowed)
            verdicts.append(CellVerdict(**_fields(stored), verdict=verdict, reason=reason))
    return StudyVerification(provenance=provenance({}, 0.0), store=str(store), verdicts=tuple(verdicts))


def _verdict(db: Store, cell: Stored, file: Path, budget: float, files: Sequence[Any]) -> tuple[str, str]:
    """Return the verdict on a cell, and the reason if its claim is not proved or it is damaged."""
    stored, _ = intact(db, cell)
    if stored.status == "damaged":
        return "damaged", stored.reason
    result = db.result(stored.key) or {}
    by_formula = stored.cell.measure == "ratio" and "traffic" in stored.cell.options
    if not stored.cell.method.claims or (by_formula and not result.get("certificate")):
        return "no claim", ""
    file.write_text(json.dumps(result), encoding="ascii")
    try:
        about = result.get("topology"), result.get("routing")
        if cell.cell.routing is not None and about != (cell.cell.topology, cell.cell.routing):
            own = f"the cell {cell.cell}"
            if misstated := bounded(_misstated, cell.cell, about, seconds=budget, files=files, own=own):
                return "not proved", misstated
        checked = check(file, budget=budget, files=files)
    except OblivError as error:
        message = error.message if isinstance(error, FileError) else str(error)
        return "not proved", message
    if checked.proved:
        return checked.verdict, ""
    return "not proved", next((f"{step.check}: {step.detail}" for step in checked.checks if not step.ok), "")


def _misstated(cell: Cell, about: tuple[Any, Any], progress: Progress) -> str:
    """Return what a claim is about, if it is not the cell that it is stored for; else empty."""
    routing = routing_of(cell.routing, cell.topology)  # whose specs may be other words for the same
    return "" if about == (routing.topology.spec, routing.spec) else f"the claim is about {about[1]} on {about[0]}"


def _fields(stored: Stored) -> dict[str, Any]:
    cell = asdict(stored.cell)
    return {name: cell[name] for name in ("topology", "routing", "measure", "options", "seed")}


def cells_of(db: Store, study: str) -> list[Stored]:
    """Return the cells of a study; InputError if there is none of that name, FileError if there is none at all."""
    names = db.names()
    if study and study not in names:
        raise InputError(f"no study {study!r} in {db.path}: {did_you_mean(study, names)}")
    return db.cells(study)


def _rows(store: str | Path, study: str) -> list[dict[str, Any]]:
    """Return the rows of all results behind the cells that they belong to."""
    rows: list[dict[str, Any]] = []
    with opened(store) as db:
        for stored in (intact(db, cell)[0] for cell in cells_of(db, study)):
            cell = stored.cell
            head = {"topology": cell.topology, "routing": cell.routing, "measure": cell.measure, **cell.options}
            head |= {"seed": cell.seed, "status": stored.status, "reason": stored.reason or None}
            rows += [head | {name: decoded(v) for name, v in row.items()} for row in stored.rows or [{}]]
    first = ("topology", "routing", "measure", "seed", "status", "reason")
    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    return [{name: row.get(name) for name in names} for row in rows]


def _by_identity(path: str | Path) -> dict[str, Stored]:
    with opened(path) as db:
        return {stored.cell.identity: intact(db, stored)[0] for stored in db.cells()}


def _identity(row: Difference) -> str:
    fields = [row.topology, row.routing, row.measure, row.options, row.seed]
    return json.dumps(fields, sort_keys=True, ensure_ascii=True)


def _state(stored: Stored) -> str:
    """Return the status of a cell, and what is damaged of it."""
    return f"damaged ({stored.reason})" if stored.status == "damaged" else stored.status


def _unlike(one: Stored, two: Stored) -> list[Difference]:
    """Return the figures of a cell that differ: all those in the rows of its result."""
    if one.status != "done" or two.status != "done":
        if (one.status, one.reason) == (two.status, two.reason) and one.status != "damaged":
            return []
        return [Difference(**_fields(one), figure="status", first=_state(one), second=_state(two))]
    differences = []
    for k in range(max(len(one.rows), len(two.rows))):
        mine, other = (side.rows[k] if k < len(side.rows) else {} for side in (one, two))
        for name in dict.fromkeys([*mine, *other]):
            if mine.get(name) != other.get(name):
                values = decoded(mine.get(name)), decoded(other.get(name))
                differences.append(Difference(**_fields(one), figure=name, first=values[0], second=values[1]))
    return differences
