"""The store of a study: one SQLite file, a row per cell; what is finished is never lost and never computed again.

Every run writes whole groups of results in one transaction, so that a killed process, a full disk or a second run
leave a row either as it was or complete. One run works on a store at a time.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from obliv._util.files import require_file, require_place, unlike_keys
from obliv.errors import FileError
from obliv.results.markup import from_content
from obliv.results.numbers import Bounds, Estimate, number
from obliv.results.study import decoded
from obliv.study.measures import MEASURES, Cell
from obliv.study.reading import sha256_of

if TYPE_CHECKING:
    from obliv.results.base import Result


# A cell as a store holds it: what can be read of its row, and whether that agrees with its result


STATUSES = ("done", "failed", "pending")  #: Of a row; a cell that cannot be read is ``damaged``.


@dataclass(frozen=True)
class Stored:
    """A cell with what the store holds of it.

    The status is that of the row, or ``damaged``: the row cannot be read, and has no figures.
    """

    key: str
    cell: Cell
    status: str
    reason: str = ""
    headline: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def damaged(self, reason: str) -> Stored:
        """Return the cell without figures, and with what is wrong."""
        return replace(self, status="damaged", reason=reason, headline={}, rows=[])


def stored_of(key: str, row: Sequence[Any]) -> Stored:
    """Return the cell in a row: columns from which its key follows, then status, reason, headline and rows."""
    topology, routing, measure, options, seed, method, files, status, reason, headline, rows = row
    read = partial(json.loads, object_pairs_hook=unlike_keys)
    try:
        named = tuple((str(path), str(digest)) for path, digest in read(files))
        cell = Cell(topology, routing, measure, dict(read(options)), seed, named)
        stored = Stored(key, cell, status, reason or "", read(headline or "{}"), read(rows or "[]"))
        readable = status in STATUSES and measure in MEASURES and _readable_file(stored)
        readable &= method != cell.method.version or cell.key == key  # an earlier method had other keys
    except (ValueError, TypeError, AttributeError, KeyError):
        readable = False
    if readable:
        return stored
    measure = measure if measure in MEASURES else next(iter(MEASURES))
    routing = None if routing is None else str(routing)
    return Stored(key, Cell(str(topology), routing, measure), "damaged").damaged(f"its row {_AGAIN}")


def encoded(value: Any) -> Any:
    """Return a number or text of a row as JSON."""
    if isinstance(value, Fraction | Estimate | Bounds):
        return number(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def _readable_file(stored: Stored) -> bool:
    """Return whether headline and rows are what they should be; raise an error if numbers in them are not."""
    for row in (stored.headline, *stored.rows):
        for value in row.values():
            decoded(value)
    return True


def intact(db: Store, stored: Stored) -> tuple[Stored, Result | None]:
    """Return a cell with its result, if it is finished; as damaged if the result cannot be read or says otherwise."""
    if stored.status != "done":
        return stored, None
    try:
        result = from_content(db.result(stored.key) or {})
    except (FileError, ValueError):
        return stored.damaged(f"its result {_AGAIN}"), None
    if figure := _altered(stored, result):
        return stored.damaged(f"its row has another {figure} than its result; {_HOW}"), None
    return stored, result


_HOW = "a run with retry_failed computes it again"
_AGAIN = f"is damaged; {_HOW}"


def _altered(stored: Stored, result: Result) -> str:
    """Return the figure that a row has otherwise than the result; empty if they agree."""
    method = stored.cell.method
    try:
        mine = [method.headline(result, stored.cell.options), *method.rows(result)]
    except (ValueError, TypeError, AttributeError):
        return "kind"
    if len(mine) != 1 + len(stored.rows):
        return "number of rows"
    for own, row in zip(mine, (stored.headline, *stored.rows), strict=True):
        for name in row:
            if name in own and encoded(own[name]) != row[name]:  # another version may have other columns
                return name or stored.cell.measure
    return ""


VERSION = 1  #: Of the tables below; stores of newer versions are refused.
_APPLICATION = 0x6F626C76  # "oblv"
_PATIENCE = 60.0  # seconds to wait for another writer, and for the sign of life of a run on another machine
_TABLES = """
CREATE TABLE cells (
    key TEXT PRIMARY KEY, topology TEXT NOT NULL, routing TEXT, measure TEXT NOT NULL, options TEXT NOT NULL,
    seed INTEGER, method INTEGER NOT NULL, files TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', run INTEGER,
    reason TEXT, headline TEXT, rows TEXT, checksum INTEGER, sources TEXT, seconds REAL, result BLOB
);
CREATE TABLE studies (name TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE members (
    study TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (study, position)
) WITHOUT ROWID;
CREATE TABLE runs (id INTEGER PRIMARY KEY, host TEXT NOT NULL, process TEXT NOT NULL, beat REAL NOT NULL);
"""
#: Columns from which the key follows.
_SPECS = ("topology", "routing", "measure", "options", "seed", "method", "files")


class Outcome(NamedTuple):
    """What became of a cell: its result in the forms that are stored, or the reason why there is none."""

    key: str
    seconds: float
    reason: str = ""
    headline: str = ""
    rows: str = ""
    result: bytes = b""
    sources: str = "[]"
    retry: bool = False  #: Whether it may succeed alone: there was not enough memory beside other cells.


@contextmanager
def opened(path: str | Path, *, write: bool = False) -> Iterator[Store]:
    """Open a store; with `write`, make it where there is none."""
    require_place(path)
    with _mapped(path):
        connection = _connect(Path(path), write)
        try:
            yield Store(path, connection)
        finally:
            connection.close()


class Store:
    """An open store; see :func:`opened`."""

    def __init__(self, path: str | Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Run a transaction that is written whole or not at all; only what is durable survives a power failure."""
        self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def enroll(self, name: str, text: str, cells: Sequence[Cell]) -> None:
        """Enter a study and those of its cells that are not there yet; what is damaged of their specs is mended."""
        with self._writing() as db:
            db.execute(f"UPDATE cells SET status = 'pending' WHERE status NOT IN {STATUSES}")
            db.execute("INSERT OR REPLACE INTO studies VALUES (?, ?)", (name, text))
            db.execute("DELETE FROM members WHERE study = ?", (name,))
            db.executemany(
                f"INSERT INTO cells (key, {', '.join(_SPECS)}) VALUES (?, {', '.join('?' * len(_SPECS))}) "
                f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _SPECS)} "
                f"WHERE {' OR '.join(f'cells.{name} IS NOT excluded.{name}' for name in _SPECS)}",
                [
                    (
                        cell.key,
                        cell.topology,
                        cell.routing,
                        cell.measure,
                        json.dumps(cell.options, sort_keys=True),
                        cell.seed,
                        cell.method.version,
                        json.dumps(cell.files),
                    )
                    for cell in cells
                ],
            )
            db.executemany(
                "INSERT INTO members VALUES (?, ?, ?)", [(name, k, cell.key) for k, cell in enumerate(cells)]
            )

    def status(self) -> dict[str, tuple[str, str]]:
        """Return status and reason of every cell, by key; those whose files changed meanwhile are not finished."""
        known: dict[str, tuple[str, str]] = {}
        digests: dict[str, str] = {}
        for key, status, reason, sources in self._db.execute("SELECT key, status, reason, sources FROM cells"):
            stale = sources not in (None, "[]") and _changed(sources, digests)
            known[key] = ("stale", "") if stale else (status, reason or "")
        return known

    def reset(self, keys: Iterable[str], status: str) -> None:
        """Let cells be computed again that have a status."""
        update = "UPDATE cells SET status = 'pending' WHERE key = ? AND status = ?"
        with self._writing() as db:
            db.executemany(update, [(key, status) for key in keys])

    def begin(self) -> int:
        """Enter a run, and return its number; raise FileError while another one works on the store."""
        with self._writing(durable=False) as db:
            for host, process, beat in db.execute("SELECT host, process, beat FROM runs").fetchall():
                if _works(host, process, beat):
                    number = process.partition(":")[0]
                    text = f"process {number} on {host} works on it: wait for its end, or use another store"
                    raise FileError(text, self.path)
            db.execute("DELETE FROM runs")
            entry = (_host(), _process(os.getpid()), time.time())
            number = db.execute("INSERT INTO runs (host, process, beat) VALUES (?, ?, ?)", entry).lastrowid
        return int(number or 0)

    def beat(self, run: int) -> None:
        """Say that a run still works."""
        with self._writing(durable=False) as db:
            db.execute("UPDATE runs SET beat = ? WHERE id = ?", (time.time(), run))

    def end(self, run: int) -> None:
        """Remove a run."""
        with self._writing(durable=False) as db:
            db.execute("DELETE FROM runs WHERE id = ?", (run,))

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Write results."""
        with self._writing() as db:
            db.executemany(
                "UPDATE cells SET status = ?, reason = ?, headline = ?, rows = ?, result = ?, checksum = ?, "
                "sources = ?, seconds = ? WHERE key = ?",
                [
                    (
                        "failed" if outcome.reason else "done",
                        outcome.reason or None,
                        outcome.headline or None,
                        outcome.rows or None,
                        outcome.result or None,
                        zlib.crc32(outcome.result),
                        outcome.sources,
                        round(outcome.seconds, 6),
                        outcome.key,
                    )
                    for outcome in outcomes
                ],
            )

    def names(self) -> list[str]:
        """Return the names of the studies; FileError if there is none, as in the first moments of a run."""
        names = [name for (name,) in self._db.execute("SELECT name FROM studies ORDER BY rowid")]
        if not names:
            raise FileError(_NONE_YET, self.path)
        return names

    def cells(self, study: str = "") -> list[Stored]:
        """Return the cells of a study, or of all, in the order of their files."""
        rows = self._db.execute(
            f"SELECT cells.key, {', '.join(_SPECS)}, status, reason, headline, rows "
            "FROM members JOIN cells USING (key) WHERE study = ? OR ? = '' "
            "ORDER BY (SELECT rowid FROM studies WHERE name = study), position",
            (study, study),
        )
        return list({key: stored_of(key, row) for key, *row in rows}.values())

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the saved result of a cell with its certificate; None if it is not finished."""
        row = self._db.execute(
            "SELECT result, checksum FROM cells WHERE key = ? AND status = 'done'", (key,)
        ).fetchone()
        if row is None:
            return None
        try:
            if zlib.crc32(row[0]) != row[1]:
                raise ValueError
            content = json.loads(zlib.decompress(row[0]), object_pairs_hook=unlike_keys)
        except (ValueError, TypeError, zlib.error):
            raise self._damaged(key) from None
        return dict(content)

    def _damaged(self, key: str) -> FileError:
        query = "SELECT topology, routing, measure FROM cells WHERE key = ?"
        topology, routing, measure = self._db.execute(query, (key,)).fetchone() or (key, None, "key")
        where = f"{measure}: {routing} on {topology}" if routing is not None else f"{measure}: {topology}"
        return FileError(_DAMAGED.format(f"the cell {where}"), self.path)

    def check(self) -> None:
        """Check the whole file; FileError if it is damaged."""
        verdict = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise FileError(_DAMAGED.format(verdict), self.path)


_DAMAGED = "is damaged ({}): restore a copy, or compute it again into another file"

_NONE_YET = "holds no study: if a run has just begun, try again in a moment; otherwise name another file"

#: How to go on after an error of SQLite, by a part of its message.
_ERRORS = {
    "disk is full": "cannot be written, the disk is full: make space and run the same command again",
    "readonly": "cannot be written, it is read-only: change its permissions or name another file",
    "unable to open": "cannot be opened: check its permissions and those of its directory",
    "locked": "another program locked it for more than a minute: close that and run the same command again",
    "disk I/O error": "cannot be read or written (disk I/O error): check the disk and the space on it, "
    "and run the same command again",
    "not a database": "is not a store of studies: name another file",
}


@contextmanager
def _mapped(path: str | Path) -> Iterator[None]:
    """Raise errors of SQLite as FileError with what to do."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        advice = next((advice for part, advice in _ERRORS.items() if part in text), _DAMAGED.format(text))
        kept = "; finished cells are kept" if "run the same" in advice else ""
        raise FileError(advice + kept, path) from None


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    if not write:
        _require_store(path)
    # SQLite removes its files beside a store when the last connection that may write closes
    place = path.absolute().as_uri() + ("" if write else "?mode=rw")
    db = sqlite3.connect(place, timeout=_PATIENCE, isolation_level=None, uri=True)
    try:
        if not write and not _readable(db):  # without the right to make the shared memory of a log
            if os.path.getsize(log) if os.path.exists(log := f"{path}-wal") else 0:
                raise FileError("has unfinished writes of a run and cannot be opened: change its permissions", path)
            db.close()
            db = sqlite3.connect(place.replace("mode=rw", "immutable=1"), isolation_level=None, uri=True)
        # the tables first: another process, which may be making all three at once, is then never seen half done
        tables, application, version = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("schema_version", "application_id", "user_version")
        )
        if tables and application != _APPLICATION:
            raise FileError("is not a store of studies: name another file", path)
        if version > VERSION:
            raise FileError(
                f"was written by a newer obliv (store version {version}, this one reads {VERSION}): upgrade obliv", path
            )
        if write:
            _prepare(db)
        elif not tables:
            raise FileError(_NONE_YET, path)
        else:
            db.execute("PRAGMA query_only = ON")
    except BaseException:
        db.close()
        raise
    return db


def _require_store(path: Path) -> None:
    """Raise FileError unless there is a file that is not empty."""
    if os.path.isfile(path) and not os.path.getsize(path):
        raise FileError(_NONE_YET, path)
    if not os.path.lexists(path):
        raise FileError("file not found; a run makes it once it has checked which cells fit together", path)
    require_file(path)


def _readable(db: sqlite3.Connection) -> bool:
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if "unable to open" in str(error) or "readonly" in str(error):
            return False
        raise
    return True


def _prepare(db: sqlite3.Connection) -> None:
    """Make the tables where there are none; two processes may do so at a time."""
    deadline = time.monotonic() + _PATIENCE
    while db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _changed(sources: str, digests: dict[str, str]) -> bool:
    """Return whether files behind a result changed, or cannot be told; `digests` are those known so far."""
    try:
        return any(_digest(path, digests) != digest for path, digest in json.loads(sources))
    except (ValueError, TypeError):
        return True


def _digest(path: str, digests: dict[str, str]) -> str:
    if path not in digests:
        try:
            digests[path] = sha256_of(path)
        except FileError:
            digests[path] = ""
    return digests[path]


def _host() -> str:
    """Return the machine, and the namespace of its process numbers where there are some."""
    try:
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node()


def _works(host: str, process: str, beat: float) -> bool:
    """Return whether a run still works: its process lives, or it has given a sign of life from another machine."""
    number, _, began = process.partition(":")
    return _process(int(number)) == process if host == _host() and began else time.time() - beat <= _PATIENCE


def _process(number: int) -> str:
    """Return a process by its number and the time of its start; the latter is empty if the system does not say."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as stream:
            return f"{number}:{stream.read().rpartition(')')[2].split()[19]}"
    except (OSError, IndexError):
        return f"{number}:"
