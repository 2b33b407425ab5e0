"""The base of all results: provenance, printing, saving, pictures, proofs of one channel, lists of names."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from obliv import __version__
from obliv._util.lazy import picture_of
from obliv._util.text import html_table, plural, printable
from obliv.errors import FileError, extra
from obliv.results.codec import TEXT_OR_NULL, WHOLE_OR_NULL, Codec, Declaration, Record, entry
from obliv.results.numbers import Bounds, Estimate, as_float, bounds_of, brief, shown, spread

if TYPE_CHECKING:
    import pandas


NOT_VERIFIED = "declared relative, not verified for all pairs"  #: Exactness where a declaration is relied on.
NO_CAPACITY = "the capacity of this topology is not known"
_NOT_KNOWN = "not known here (see obliv.bounds)"
NO_LOAD = "no traffic loads any channel"


#: What files may say of themselves; reports and tables repeat it.
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
_EXACTNESS = re.compile(
    "exact|bounded|estimated|exact: every move is given|exact but for the average|as each row says"
    "|(exact|certified bounds)(, with samples beside)?"  # of collisions
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
    beside_published: ClassVar[bool] = False  #: Whether its rows stand beside published numbers.

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
            from obliv._util.files import digest_of

            data["certificate"]["digest"] = digest_of(data)
        return data

    _whole: ClassVar[bool] = True

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of results of this class."""
        schema = super().json_schema()
        kind = {"kind": {"const": cls.kind}}
        return schema | {"properties": kind | schema["properties"], "required": ["kind", *schema["required"]]}

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
        from obliv._util.files import write_json

        write_json(self.to_dict(), path)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the result (needs matplotlib) and return the axes."""
        return importlib.import_module("obliv.view").plot(self, ax=ax, **options)

    def require_picture(self, path: str | Path) -> None:
        """Refuse a file that the result cannot be drawn into, before any work."""
        view = importlib.import_module("obliv.view")
        view.require_format(path)

    def draw(self, path: str | Path, **options: Any) -> None:
        """Draw the result into a file."""
        importlib.import_module("obliv.view").save(self.plot(**options), path)

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


# Pictures that results declare, and obliv.view draws: bars, lines, loads on a network, and the worst traffic there


PICTURES = ("bars", "lines", "plane", "worst_traffic")  #: The methods that declare one.


@dataclass(frozen=True)
class Bar:
    """A number with its name; specs in the name may have other names in a picture.

    Parameters
    ----------
    name : str
    value : Fraction, Estimate, Bounds or None
        None leaves the bar out.
    role : {"plain", "warning", "beside"}
        What sets its color.
    text : str
        What stands at the end of the bar; default the number.
    """

    name: str
    value: Fraction | Estimate | Bounds | None
    role: str = "plain"
    text: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Where the solid and the hatched part end."""
        if self.value is None or isinstance(self.value, Estimate):
            return (float(self.value or 0),) * 2
        lower, upper = bounds_of(self.value)
        return as_float(lower), as_float(upper)

    @property
    def error(self) -> float:
        """Standard error of an estimate, 0 for other numbers."""
        return self.value.stderr if isinstance(self.value, Estimate) else 0.0


class Mark(NamedTuple):
    """A dashed line of a chart at a value, its name above it to one side."""

    at: float
    name: str
    side: str = "center"


class Bars(NamedTuple):
    """A chart of bars from top to bottom.

    Parameters
    ----------
    bars : sequence of Bar
    axis : str
        What the numbers are.
    heading : sequence of str
        Lines of the title, where ``{subject}`` stands for routing and topology, ``{topology}`` for that alone and
        ``{title}`` for the title of the result, without its kind with a capital letter for ``{Title}``.
    remarks : sequence of str
        Lines of it that are less important.
    marks : sequence of Mark
    least : float
        What the axis reaches at least.
    whole : bool
        Whether the numbers are whole.
    dense : bool
        Whether bars and numbers are small: of lists with long texts.
    """

    bars: Sequence[Bar]
    axis: str
    heading: Sequence[str] = ("{subject}",)
    remarks: Sequence[str] = ()
    marks: Sequence[Mark] = ()
    least: float = 0.0
    whole: bool = False
    dense: bool = False


class Curve(NamedTuple):
    """A part of a chart of lines: numbers over numbers, drawn by their shape.

    Parameters
    ----------
    shape : {"line", "points", "samples", "columns", "band", "level"}
        A band lies between `ys` and `top`, both constant up to the next of one more `xs`; a level is a vertical line.
    xs, ys, top : sequence of float
    name : str
        Of the key; empty for none.
    texts : sequence of str
        What stands above columns, where there is room.
    """

    shape: str
    xs: Sequence[float]
    ys: Sequence[float]
    name: str = ""
    top: Sequence[float] = ()
    texts: Sequence[str] = ()


class Lines(NamedTuple):
    """A chart of curves.

    Parameters
    ----------
    curves : sequence of Curve
    x, y : str
        What the numbers of each axis are.
    inches : tuple of two floats
        Width and height of new axes.
    x_limits, y_limits : tuple of two floats, optional
        The ends of the axes.
    heading, remarks, marks, whole
        As for :class:`Bars`.
    """

    curves: Sequence[Curve]
    x: str
    y: str
    inches: tuple[float, float]
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    heading: Sequence[str] = ("{subject}",)
    remarks: Sequence[str] = ()
    marks: Sequence[Mark] = ()
    whole: bool = False


class Plane(NamedTuple):
    """A load for every channel, drawn on the network; `heading` and `remarks` as for :class:`Bars`."""

    loads: Sequence[Fraction]
    heading: Sequence[str] = ("{subject}",)
    remarks: Sequence[str] = ()


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


# The proof of one channel of a claim, term by term


_SHOWN = 24  # terms in the text; the rows have all

_RULES = {
    "prices": "prices of destinations, and what every source sends beyond them",
    "rows": "the largest load of every source",
    "columns": "the largest load of every destination",
}


@dataclass(frozen=True)
class Term(Record):
    """One terminal's part of a bound, as the load of the channel: rate × (weight − price), or rate × price."""

    side: str = entry(column="side")  #: "source" or "destination"
    terminal: int = entry(column="terminal")
    name: str = entry(column="name")
    partner: int | None = entry(column="partner")  #: The end of its heaviest pair.
    partner_name: str = entry(column="partner_name")
    weight: Fraction = entry(column="weight")  #: Of this pair.
    price: Fraction = entry(column="price")
    rate: Fraction = entry(column="rate")
    amount: Fraction = entry(column="amount")

    def in_words(self, priced: bool) -> str:
        """Return the term as a sum."""
        times = "" if self.rate == 1 else f"{brief(self.rate)} × "
        if self.partner is None:
            return f"{brief(self.amount)} = {times}the price" if times else brief(self.amount)
        direction = "to" if self.side == "source" else "from"
        less = f" less its price {brief(self.price)}" if priced and self.price else ""
        pair = f"{brief(self.weight)} {direction} {self.partner_name}{less}"
        return f"{brief(self.amount)} = {times}({pair})" if times else f"{brief(self.amount)} = {pair}"


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """The proof of one channel: the terms that add up to the bound of its load, and what the claim allows.

    Terms are loads of the channel, of terminals that add something. By ``prices``, every source adds the largest weight
    less price of a destination, and every destination its price; by ``rows`` and ``columns``, the simple bound, every
    source or every destination adds its largest weight.

    Examples
    --------
    >>> import obliv
    >>> obliv.explain(obliv.worst_case(obliv.DOR(obliv.line(3)), certificate=True), 0)
    explanation: dor on line:3
      channel   0: 0 -> 1
      claim     it carries at most 1
      verdict   holds: at most 1
      by        prices of destinations, and what every source sends beyond them
      source 0  1 = 1 to 1
      sum       1
    """

    kind: ClassVar[str] = "explanation"
    table: ClassVar[str] = "terms"
    columns: ClassVar[tuple[str, ...]] = ("topology", "routing", "side", "terminal", "name", "amount")

    channel: Channel = entry(
        Channel(0, 0, 0),
        label="channel",
        text=lambda proof: f"{proof.channel.id}: {proof.channel_names[0]} -> {proof.channel_names[1]}",
    )
    channel_names: tuple[str, str] = ("", "")
    limit: Fraction = entry(Fraction(0), label="claim", text=lambda proof: f"it carries at most {shown(proof.limit)}")
    bound: Fraction = entry(
        Fraction(0),
        label="verdict",
        text=lambda proof: f"{'holds' if proof.holds else 'is not proved'}: at most {shown(proof.bound)}",
    )
    rule: str = entry("rows", label="by", text=lambda proof: _RULES[proof.rule])
    terms: tuple[Term, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the bound is within the claim."""
        return self.bound <= self.limit

    def summary(self) -> list[tuple[str, str]]:
        priced = self.rule == "prices"
        lines = super().summary()
        for term in self.terms[:_SHOWN]:
            what = "price of" if term.partner is None else term.side
            lines.append((f"{what} {term.name}", term.in_words(priced)))
        if rest := self.terms[_SHOWN:]:
            total = sum((term.amount for term in rest), Fraction(0))
            lines.append((plural(len(rest), "more term"), f"{brief(total)}; all in CSV"))
        return [*lines, ("sum", shown(self.bound))]


# Lists of the registered topologies, routings or traffic patterns


@dataclass(frozen=True)
class Name(Record):
    """A registered name with an example, its aliases and a summary."""

    name: str = entry(column="name")
    example: str = entry(column="example")
    aliases: tuple[str, ...] = entry()
    summary: str = entry(column="summary")

    def cells(self) -> dict[str, Any]:
        """Return the row, with the aliases as one text."""
        return {"name": self.name, "example": self.example, "aliases": " ".join(self.aliases), "summary": self.summary}


@dataclass(frozen=True, repr=False)
class Listing(WithoutNetwork):
    """The registered names of a kind, such as "routings"."""

    kind: ClassVar[str] = "list"
    table: ClassVar[str] = "names"

    provenance: Provenance = entry(default_factory=Provenance, codec=WITHOUT_INPUTS, rank=1)
    what: str = ""
    names: tuple[Name, ...] = entry((), key="rows")

    def __repr__(self) -> str:
        wide, wider = (
            max((len(getattr(row, column)) for row in self.names), default=0) for column in ("name", "example")
        )
        return "\n".join(f"{row.name:<{wide}}  {row.example:<{wider}}  {row.summary}" for row in self.names)
