"""Limits of a fabric, from a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from obliv._util.rationals import exact
from obliv._util.text import did_you_mean, printable
from obliv._util.toml import line_of, read_toml
from obliv.errors import FileError
from obliv.fabric.arguments import typed

__all__ = ["JobLimit", "Limits", "read_limits"]


@dataclass(frozen=True)
class JobLimit:
    """The largest load that a job may put on any cable.

    Parameters
    ----------
    hosts : str
        File of its hosts; in a file of limits its path is relative to that file.
    pattern : str
    load : Fraction
    per_host : int
    line : int
    """

    hosts: str
    pattern: str
    load: Fraction
    per_host: int = 1
    line: int = 0


@dataclass(frozen=True)
class Limits:
    """What has to hold of a fabric and its tables; None where nothing is asked.

    Parameters
    ----------
    name : str
        The file.
    worst_load, uniform_load : Fraction
        The exact worst load is at most this; so is that under uniform traffic, self-pairs included.
    idle_cables : int
        At most so many cables are used by no route, in one direction at least.
    pairs : int or "all"
        At least so many ordered pairs of hosts are connected.
    credit_loops : bool
        False: there are none, with the lanes that are given.
    warnings : int
        At most so many warnings.
    hosts, switches : int
        There are exactly so many.
    shape : str
        The fat tree that the fabric is: ``FT(8,3)``.
    engine : str
        The engine that OpenSM used, by its log.
    plan : str
        File of the planned cabling, see :func:`obliv.fabric.gate.plan.read_plan`.
    cables : tuple of (str, str)
        Cables that must be there, as ports ``NAME/PORT``.
    since : tuple of (str, str)
        Topology and tables of an earlier night: no pairs are lost since then, and neither load has grown.
    offset : str
        The rule for the LIDs of destinations that sources use, for tables with several LIDs per host; no limit itself.
    job : tuple of JobLimit
    lines : tuple of (str, int)
        Where each limit is.
    sources : tuple of (path, SHA-256)
    """

    name: str = "limits"
    worst_load: Fraction | None = None
    uniform_load: Fraction | None = None
    idle_cables: int | None = None
    pairs: int | str | None = None
    credit_loops: bool | None = None
    warnings: int | None = None
    hosts: int | None = None
    switches: int | None = None
    shape: str | None = None
    engine: str | None = None
    plan: str | None = None
    cables: tuple[tuple[str, str], ...] = ()
    since: tuple[str, str] | None = None
    offset: str = "0"
    job: tuple[JobLimit, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    @property
    def about_tables(self) -> list[str]:
        """The limits that need forwarding tables."""
        single = ("worst_load", "uniform_load", "idle_cables", "pairs", "credit_loops", "since")
        return [name for name in single if getattr(self, name) is not None] + ["job"] * bool(self.job)


@typed
def read_limits(path: str | Path) -> Limits:
    """Read the limits of a fabric.

    Parameters
    ----------
    path : str or Path
        TOML with any of the keys of :class:`Limits`; ``[[job]]`` has `hosts`, `pattern`, `load` and `per_host`.

    Raises
    ------
    FileError
        With the line: unknown keys, values of another type, no limit at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "fabric.toml"
    ...     _ = file.write_text('worst_load = "7/2"' + chr(10) + 'pairs = "all"')
    ...     limits = read_limits(file)
    >>> limits.worst_load, limits.pairs
    (Fraction(7, 2), 'all')
    """
    content, text, digest = read_toml(path)
    read = _Keys(path, text, ())
    read.require(content, (*_KEYS, "job"))
    values = {key: read.value(key, value, _KEYS[key]) for key, value in content.items() if key != "job"}
    folder = Path(path).parent
    if "plan" in values:
        values["plan"] = str(folder / values["plan"])
    if "since" in values:
        values["since"] = tuple(str(folder / name) for name in values["since"])
    jobs = content.get("job", [])
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        read.refuse("job is not a list of tables: write [[job]] before each", "job")
    found = tuple(_job(path, text, number, job, folder) for number, job in enumerate(jobs, 1))
    if not values.keys() - {"offset"} and not found:
        raise FileError("contains no limit: write for example worst_load = 4", path)
    lines = tuple((key, line_of(text, key) or 0) for key in values)
    return Limits(str(path), **values, job=found, lines=lines, sources=((str(path), digest),))


class _Keys:
    """The keys of a table, for messages with lines."""

    def __init__(self, path: str | Path, text: str, above: tuple[str, ...]) -> None:
        self.path, self.text, self.above = path, text, above

    def refuse(self, message: str, *words: str) -> NoReturn:
        raise FileError(message, self.path, line_of(self.text, *self.above, *words))

    def require(self, table: dict[str, Any], known: Iterable[str]) -> None:
        for key in table:
            if key not in known:
                self.refuse(f"{printable(key[:60])!r} is not a limit: {did_you_mean(key, sorted(known))}", key)

    def value(self, key: str, value: Any, kind: _Kind) -> Any:
        read, needed = kind
        found = read(value)
        if found is None:
            self.refuse(f"{key} = {_written(value)}: {needed}", key)
        return found


def _written(value: Any) -> str:
    """Return a value as it is written in TOML, cut short."""
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return printable(text if len(text) <= 40 else text[:37] + "...")


_Kind = tuple[Callable[[Any], Any], str]


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else None


def _load(value: Any) -> Fraction | None:
    number = exact(value) if isinstance(value, (int, float, str)) else None
    return number if number is not None and number >= 0 else None


def _pairs(value: Any) -> int | str | None:
    return "all" if value == "all" else _count(value)


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() and "\0" not in value else None


def _offset(value: Any) -> str | None:
    return str(value) if _count(value) is not None else _word(value)


def _cables(value: Any) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(value, list) or not value:
        return None
    good = [pair for pair in value if isinstance(pair, list) and len(pair) == 2 and all(map(_word, pair))]
    return tuple((one, other) for one, other in good) if len(good) == len(value) else None


def _two_files(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and len(value) == 2 and all(map(_word, value)) else None


_LOAD: _Kind = (_load, 'a number at least 0 is needed, as 4, 3.5 or "7/2"')
_COUNT: _Kind = (_count, "a whole number at least 0 is needed")
_WORD: _Kind = (_word, "text in quotes is needed")
_KEYS: dict[str, _Kind] = {
    "worst_load": _LOAD,
    "uniform_load": _LOAD,
    "idle_cables": _COUNT,
    "pairs": (_pairs, '"all" or a whole number is needed'),
    "credit_loops": (lambda value: value if isinstance(value, bool) else None, "true or false is needed"),
    "warnings": _COUNT,
    "hosts": _COUNT,
    "switches": _COUNT,
    "shape": _WORD,
    "engine": _WORD,
    "offset": (_offset, 'a number or text in quotes is needed, as "0-0-1-1"'),
    "plan": (_word, "the name of a file is needed"),
    "since": (_two_files, 'two files are needed, as ["nights/good/topology.txt", "nights/good/tables.txt"]'),
    "cables": (_cables, 'pairs of ports are needed, as [["leaf1/3", "spine2/1"]]'),
}
_JOB_KEYS: dict[str, _Kind] = {
    "hosts": (_word, "the name of a file is needed"),
    "pattern": _WORD,
    "load": _LOAD,
    "per_host": _COUNT,
}


def _job(path: str | Path, text: str, number: int, table: dict[str, Any], folder: Path) -> JobLimit:
    """Return a limit of a job."""
    read = _Keys(path, text, ("job",) * number)
    read.require(table, _JOB_KEYS)
    for field in fields(JobLimit)[:3]:
        if field.name not in table:
            read.refuse(f"job {number} has no {field.name}")
    values = {key: read.value(key, value, _JOB_KEYS[key]) for key, value in table.items()}
    values["hosts"] = str(folder / values["hosts"])
    return JobLimit(**values, line=line_of(text, *read.above) or 0)
