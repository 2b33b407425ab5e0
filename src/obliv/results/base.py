"""The base of all results: provenance, printing, saving and plotting."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from obliv import __version__
from obliv._util.lazy import picture_of
from obliv._util.text import html_table, printable
from obliv.errors import FileError, extra
from obliv.results.codec import TEXT_OR_NULL, WHOLE_OR_NULL, Codec, Declaration, Record, entry
from obliv.results.format import shown
from obliv.results.numbers import spread

if TYPE_CHECKING:
    import pandas

__all__ = [
    "CERTIFICATE",
    "NOT_VERIFIED",
    "NO_CAPACITY",
    "NO_LOAD",
    "WITHOUT_INPUTS",
    "Channel",
    "Provenance",
    "Result",
    "WithoutNetwork",
    "never",
    "provenance",
    "share_text",
]

NOT_VERIFIED = "declared relative, not verified for all pairs"  #: Exactness where a declaration is relied on.
NO_CAPACITY = "the capacity of this topology is not known"
_NOT_KNOWN = "not known here (see obliv.bounds)"
NO_LOAD = "no traffic loads any channel"


#: What files may say of themselves; reports and tables repeat it.
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
_EXACTNESS = re.compile(
    "exact|bounded|estimated|exact: every move is given|exact but for the average|as each row says"
    "|(exact|certified bounds)(, with samples beside)?"  # of lotteries
    f"|(estimated; the routing is )?({NOT_VERIFIED}|declared relative, not verified)"  # the second until 0.2.0
)


def _word(data: Any, form: re.Pattern[str], what: str) -> str:
    if not isinstance(data, str) or not form.fullmatch(data):
        raise ValueError(f"{data!r:.40} where {what} is expected")
    return data


@dataclass(frozen=True)
class Provenance(Record):
    """How a result was obtained, so that it can be reproduced; run times are not compared."""

    version: str = entry(__version__, codec=Codec(str, lambda data: _word(data, _VERSION, "a version")))
    specs: dict[str, Any] = entry(default_factory=dict)
    seed: int | None = entry(None, codec=WHOLE_OR_NULL)
    wall_seconds: float = entry(0.0, compare=False)
    exactness: str = entry("exact", codec=Codec(str, lambda data: _word(data, _EXACTNESS, "an exactness")))
    sources: dict[str, str] = entry(default_factory=dict, omit=lambda provenance: not provenance.sources)


def provenance(
    specs: dict[str, Any],
    seconds: float,
    exactness: str = "exact",
    seed: int | None = None,
    sources: tuple[tuple[str, str], ...] = (),
) -> Provenance:
    """Return the provenance of a result that this version of obliv computed in `seconds`."""
    return Provenance(__version__, specs, seed, round(seconds, 6), exactness, dict(sources))


#: The provenance of a result without inputs, of which files of older versions hold the version alone.
WITHOUT_INPUTS: Codec = Codec(
    lambda provenance: provenance.to_dict(), lambda data: Provenance.from_dict(Provenance().to_dict() | data)
)


@dataclass(frozen=True)
class Channel(Record):
    """A channel by its number and its ends."""

    id: int = entry(column="channel")
    tail: int = entry(column="tail")
    head: int = entry(column="head")


def _without_digest(certificate: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in certificate.items() if key != "digest"}


#: A certificate; :meth:`Result.to_dict` adds the digest of the whole claim to it.
CERTIFICATE = Codec(dict, _without_digest)


@dataclass(frozen=True, repr=False)
class Result(Record):
    """Base of all results: frozen records that print, convert, save and draw themselves.

    A subclass names its ``kind`` and declares its fields with :func:`obliv.results.codec.entry`; that is all that JSON,
    rows, text and :func:`obliv.load` need.

    Examples
    --------
    >>> import obliv
    >>> result = obliv.worst_case(obliv.DOR(obliv.mesh(4, 4)))
    >>> result.to_dict()["channel_load"]
    {'exact': '3', 'value': 3.0}
    >>> list(next(result.rows()))[:4]
    ['topology', 'routing', 'channel_load', 'throughput']
    >>> result == obliv.worst_case(obliv.DOR(obliv.mesh(4, 4)))
    True
    """

    kind: ClassVar[str] = ""
    marks: ClassVar[tuple[str, ...]] = ()  #: JSON keys that other classes of the same kind lack.
    table: ClassVar[str] = ""  #: The field whose records are the rows; without one the result is one row.

    sealed: ClassVar[bool] = True  #: False of one that was read with a certificate whose digest does not fit.
    on_network: ClassVar[bool] = False  #: Whether notebooks draw the network of the result below its table.
    columns: ClassVar[tuple[str, ...]] = ()  #: The columns where a result may have no rows.

    topology: str = entry("", column="topology")
    routing: str = entry("", column="routing")
    provenance: Provenance = entry(default_factory=Provenance, rank=1)
    subject: Any = field(  # what was analyzed; None in results that were loaded or sent to another process
        default=None, compare=False, kw_only=True, metadata={"entry": Declaration(hidden=True)}
    )

    def summary(self) -> list[tuple[str, str]]:
        """Return the name and the text of each figure."""
        lines = []
        for name, how in self._entries.items():
            text = None if not how.label else how.text(self) if how.text is not None else shown(getattr(self, name))
            if text is not None:
                lines.append((how.label, text))
        return lines

    def figures(self) -> list[tuple[str, str]]:
        """Return the summary, and what its figures rely on."""
        relied = self.provenance is not None and NOT_VERIFIED in self.provenance.exactness
        return self.summary() + ([("routing", NOT_VERIFIED)] if relied else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types; see the contract of the JSON output."""
        data = {"kind": self.kind} | super().to_dict()
        if isinstance(data.get("certificate"), dict):
            from obliv._util.codec import digest_of

            data["certificate"]["digest"] = digest_of(data)
        return data

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the result's table."""
        if self.table:
            own = self.cells()  # once: figures of the whole may be sums over all rows
            yield from (own | row.cells() for row in getattr(self, self.table))
        else:
            yield self.cells()

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the rows as a data frame (needs pandas); exact numbers and errors have columns of their own."""
        try:
            import pandas
        except ImportError:
            raise extra("pandas", "table") from None
        return pandas.DataFrame([spread(row) for row in self.rows()])

    @property
    def provable(self) -> bool:
        """Whether :func:`obliv.verify` can check the result once it is saved."""
        return getattr(self, "certificate", None) is not None

    def save(self, path: str | Path) -> None:
        """Write the result as JSON, compressed where the name ends in ``.gz``; :func:`obliv.load` reads it.

        Raises
        ------
        FileError
            If the file cannot be written, or the result was computed from it.
        """
        sources = self.provenance.sources if self.provenance is not None else ()  # a list of papers has neither
        if Path(path).resolve() in {Path(source).resolve() for source in sources}:
            raise FileError("is an input file and would be overwritten: choose another file", path)
        from obliv._util.codec import write_json

        write_json(self.to_dict(), path)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result (needs matplotlib) and return the axes."""
        return importlib.import_module("obliv.view").plot(self, ax=ax, **options)

    @property
    def title(self) -> str:
        """The heading: what was analyzed, in one line."""
        return f"{self.kind}: {self.routing} on {self.topology}"

    @property
    def caption(self) -> str:
        """What stands at a table of the result, in one line: its title, empty if it is not about a network."""
        return self.title if self.topology else ""

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"subject": None}  # results that travel between processes stay small

    def __repr__(self) -> str:
        figures = self.figures()
        width = max((len(name) for name, _ in figures), default=0)
        lines = [self.title, *(f"  {name:<{width}}  {text}" for name, text in figures)]
        return "\n".join(map(printable, lines))  # names of files and nodes may hold anything

    def _repr_html_(self) -> str:
        table = html_table(self.title, [("figure", "value"), *self.figures()])
        return table + picture_of(self) if self.on_network else table


#: Units of throughputs: what a terminal of rate 1 sends, and multiples of the rates where terminals have others.
PER_CYCLE = "packets per node and cycle"
TIMES_THE_RATES = "times the rates of the terminals"


def unit_of(rated: bool) -> str:
    """Return the unit of a guaranteed or average throughput; that of a pattern is times its traffic."""
    return TIMES_THE_RATES if rated else PER_CYCLE


def throughput_text(through: Any, rated: bool) -> str:
    """Return a guaranteed throughput in words, with its unit where terminals have rates."""
    return shown(through) + f" {TIMES_THE_RATES}" * (rated and through is not None)


def share_text(share: Any, capacity: Any, topology: str) -> str | None:
    """Return a fraction of capacity in words; without a capacity, what bounds it, or None for a fabric."""
    if capacity:
        return shown(share)
    return None if topology.startswith("fabric:") else _NOT_KNOWN  # operators do not work in Python


def never(result: Record) -> bool:
    """Return False: a key that is never omitted, but that files of older versions lack."""
    return False


@dataclass(frozen=True, repr=False)
class WithoutNetwork(Result):
    """Base of results that are not about one network and routing: both are null in their JSON."""

    topology: str = entry("", codec=TEXT_OR_NULL, omit=never)
    routing: str = entry("", codec=TEXT_OR_NULL, omit=never)
