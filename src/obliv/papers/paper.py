"""A paper: its printed tables as data, the rule of comparison, the worst of random permutations; all papers by name."""

from __future__ import annotations

import importlib
import re
import time
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import resources
from math import floor, hypot
from pathlib import Path
from typing import Any

import numpy as np

import obliv
from obliv._util.arrays import Array
from obliv._util.progress import Progress, rising
from obliv._util.text import did_you_mean
from obliv.errors import FileError, InputError, Interrupted, SpecError
from obliv.papers.results import OtherReading, ReproducedEntry, Reproduction
from obliv.results.base import provenance
from obliv.results.numbers import Bounds, Estimate, brief
from obliv.view.axes import require_matplotlib

# The rule that compares a computed number with a printed one


_PRINTED = re.compile(r"([+-]?)(\d*)(?:\.(\d+))?\s*(%?)\Z")


@dataclass(frozen=True)
class AtMost:
    """An upper bound, printed as "no more than"."""

    bound: Fraction


@dataclass(frozen=True)
class AtLeast:
    """A lower bound, printed as "larger than"."""

    bound: Fraction


Computed = Fraction | Estimate | Bounds


def exactly(value: Fraction | Estimate | None) -> Fraction:
    """Return a number that has to be exact."""
    if not isinstance(value, Fraction):
        raise TypeError(f"{value} is not exact")
    return value


Said = str | Fraction | AtLeast | AtMost | Bounds


def verdict(published: Said, computed: Computed) -> str:
    """Compare a computed number with a published one.

    Examples
    --------
    >>> verdict("0.278", Fraction(5, 18)), verdict("0.173", Fraction(25, 144)), verdict("62.3%", Fraction(5, 8))
    ('match', 'rounding', 'differs')
    """
    if isinstance(published, AtLeast):
        return _beside(published.bound, computed, -1)
    if isinstance(published, AtMost):
        return _beside(published.bound, computed, 1)
    if isinstance(published, Bounds):
        sides = {_beside(Fraction(published.lower), computed, -1), _beside(Fraction(published.upper), computed, 1)}
        return next(side for side in ("differs", "rounding", "match") if side in sides)
    if isinstance(computed, Estimate):
        half = _unit(published) / 2 if isinstance(published, str) else Fraction(0)
        near = abs(computed.value - float(_number(published))) <= float(half) + 3 * computed.stderr
        return "rounding" if near else "differs"
    if isinstance(computed, Bounds):
        return "rounding" if computed.lower <= _number(published) <= computed.upper else "differs"
    if isinstance(published, Fraction):
        return "match" if computed == published else "differs"
    unit = _unit(published)
    printed = _number(published) / unit
    # truncate and round half up by the absolute value
    size, sign = abs(computed / unit), -1 if computed < 0 else 1
    if sign * floor(size + Fraction(1, 2)) == printed:
        return "match"
    return "rounding" if sign * floor(size) == printed else "differs"


def fitting(published: Said, computed: Computed) -> str:
    """Return which numbers fit, in a few characters; a number of another kind than `computed` may fit differently.

    Examples
    --------
    >>> fitting("0.278", Fraction(5, 18)), fitting(AtMost(Fraction(3)), Estimate(2.9, 0.1, 60))
    ('in [0.2775, 0.279)', '≤ 3 ± 3 s.e.')
    """
    if isinstance(computed, Bounds) and isinstance(published, str | Fraction):
        return f"around {published}"
    off = " ± 3 s.e." if isinstance(computed, Estimate) else ""
    if isinstance(published, AtMost):
        return f"≤ {_brief(published.bound)}{off}"
    if isinstance(published, AtLeast):
        return f"≥ {_brief(published.bound)}{off}"
    if isinstance(published, Bounds):
        return f"in [{_brief(published.lower)}, {_brief(published.upper)}]{off}"
    if isinstance(published, Fraction):
        return f"{published}{off}"
    number, unit = _number(published), _unit(published)
    if isinstance(computed, Estimate):
        return f"in [{_brief(number - unit / 2)}, {_brief(number + unit / 2)}]{off}"
    rounded, cut = abs(number) - unit / 2, abs(number) + unit
    if number > 0:
        return f"in [{_brief(rounded)}, {_brief(cut)})"
    return f"in ({_brief(-cut)}, {_brief(-rounded)}]" if number else f"in ({_brief(-cut)}, {_brief(cut)})"


def _brief(value: Fraction | float) -> str:
    return f"{float(value):.8g}"


def _beside(bound: Fraction, computed: Computed, sign: int) -> str:
    """Compare a computed number with an upper bound (`sign` 1) or a lower one (-1)."""
    if isinstance(computed, Estimate):
        return "rounding" if sign * computed.value - 3 * computed.stderr <= sign * float(bound) else "differs"
    if isinstance(computed, Bounds):
        near, far = (computed.lower, computed.upper)[::sign]
        return "match" if sign * far <= sign * bound else "rounding" if sign * near <= sign * bound else "differs"
    return "match" if sign * computed <= sign * bound else "differs"


def _number(published: str | Fraction) -> Fraction:
    if isinstance(published, Fraction):
        return published
    sign, whole, decimals, percent = _parts(published)
    size = Fraction(int(whole + decimals or "0"), 10 ** len(decimals) * (100 if percent else 1))
    return -size if sign == "-" else size


def _unit(published: str) -> Fraction:
    """Return one unit in the last printed digit."""
    _, _, decimals, percent = _parts(published)
    return Fraction(1, 10 ** len(decimals) * (100 if percent else 1))


def _parts(published: str) -> tuple[str, str, str, str]:
    match = _PRINTED.match(published.strip())
    if not match or not (match[2] or match[3]):
        raise InputError(f"{published!r} is not a printed number such as 0.278 or 62.3 %")
    return match[1], match[2], match[3] or "", match[4]


#: Called with the finished share of a table, from 0 to 1.
Step = Callable[[float], None]


@dataclass(frozen=True)
class Printed:
    """One printed entry of a paper."""

    text: str  # as printed; empty if the paper prints nothing about it
    says: Said | None = None  # the claim, if it is not `text` or a computed number (`ComputedEntry.against`)
    erratum: str = ""  # why the print is wrong; used only if the computed number disagrees
    open: str = ""  # why it cannot be reproduced; likewise
    right: Said | None = None  # what the computed number has to be where it is not the print; any other differs
    undecided: str = ""  # why the computed number cannot decide it, as "Bound only: ..."; the verdict is open
    beyond: str = ""  # what the number is about, if the paper does not print it; the verdict is beyond

    def __post_init__(self) -> None:
        if not self.text and not self.beyond:
            raise ValueError("an entry without text has to say what its number is about: beyond=...")
        if self.judgement and sum(map(bool, (self.erratum, self.open, self.undecided, self.beyond))) > 1:
            raise ValueError(f"{self.text!r}: an entry that is undecided or beyond the paper takes no other remark")

        if self.erratum and self.right is None:
            raise ValueError(f"{self.text!r}: an erratum needs the right value, so that the row can fail")

    @property
    def judgement(self) -> str:
        """The verdict on the right number, whatever is printed, or empty."""
        return "beyond" if self.beyond else "open" if self.undecided else ""


@dataclass(frozen=True)
class ComputedEntry:
    """One computed entry."""

    value: Computed
    note: str = ""  # a remark on it
    against: Fraction | None = None  # the number that it equals according to the paper
    # why this number, though it fits, cannot decide the entry, which is then open; of another reading: what speaks
    # against it, so that it is shown and does not make the verdict `reading`
    undecided: str = ""
    print_error: float = 0.0  # standard error of the printed number, if that is a mean over random instances
    # what other readings of the paper give; one that fits where `value` is right and does not fit makes it `reading`
    readings: Mapping[str, ComputedEntry] = field(default_factory=dict)
    right: Said | None = None  # as `Printed.right`, where it depends on what is computed
    counted: str = ""  # if the number is a count, all that were counted: "21 meshes"


#: A computed entry; a number stands for one without more.
Value = ComputedEntry | Computed | int
Compute = Callable[[Step], Mapping[str, Value] | Iterable[Value]]
Layout = Callable[[Sequence[ReproducedEntry]], str]


@dataclass(frozen=True)
class Table:
    """A table or figure: its title, its printed entries, and the function that computes all of them.

    The function returns the values by entry, or in the order of the printed ones. `layout` makes the paper's own
    arrangement of the computed rows, as text; `always` shows it below the rows.
    """

    title: str
    printed: Mapping[str, Printed]
    compute: Compute
    layout: Layout | None = None
    always: bool = False

    def values(self, step: Step) -> dict[str, ComputedEntry]:
        """Compute every entry, one after another."""
        steps: list[float] = []  # of a function that knows better how much is done than the number of rows tells

        def own(share: float) -> None:
            steps.append(share)
            step(share)

        computed = self.compute(own)
        if isinstance(computed, Mapping):
            if list(computed) != list(self.printed):
                raise KeyError(f"{self.title}: computed {list(computed)}, printed {list(self.printed)}")
            computed = computed.values()
        entries = {}
        for at, (entry, value) in enumerate(zip(self.printed, computed, strict=True), 1):
            value = Fraction(int(value)) if isinstance(value, int | np.integer) else value
            entries[entry] = value if isinstance(value, ComputedEntry) else ComputedEntry(value)
            if not steps:
                step(at / len(self.printed))
        return entries


@dataclass(frozen=True)
class Paper:
    """A paper: its name, a line about it, its tables, and the functions that draw its figures into files."""

    name: str
    about: str
    tables: Mapping[str, Table]
    figures: Mapping[str, Callable[[str | Path], None]] = field(default_factory=dict)


# What a paper prints, as data: the file printed.toml beside its code


@dataclass(frozen=True)
class Print:
    """The print of a paper: a line about it, titles and entries of its tables, remarks, and the other data as read."""

    about: str
    titles: dict[str, str]
    rows: dict[str, dict[str, Printed]]
    remarks: dict[str, str]
    data: dict[str, Any]

    def paper(
        self,
        name: str,
        compute: Mapping[str, Compute],
        figures: Mapping[str, Callable[[str | Path], None]],
        more: Mapping[str, Mapping[str, Printed]] = {},
        layouts: Mapping[str, Layout] = {},
        always: Collection[str] = (),
    ) -> Paper:
        """Return the paper whose tables these functions compute; `more` are entries by formula, after those as data."""
        tables = {
            table: Table(
                title,
                {**self.rows.get(table, {}), **more.get(table, {})},
                compute[table],
                layouts.get(table),
                table in always,
            )
            for table, title in self.titles.items()
        }
        return Paper(name, self.about, tables, figures)


@cache
def print_of(paper: str) -> Print:
    """Read what a paper prints, given the name of its package."""
    file = resources.files(f"obliv.papers.{paper}").joinpath("printed.toml")
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    remarks = data.pop("remarks", {})
    rows = {table: dict(_entries(blocks, remarks)) for table, blocks in data.items() if isinstance(blocks, list)}
    return Print(data.pop("about"), data.pop("titles"), rows, remarks, data)


def _entries(blocks: list[dict[str, Any]], remarks: Mapping[str, str]) -> Iterator[tuple[str, Printed]]:
    """Yield the entries of blocks: one entry with its remarks, or rows that share them, a text for each column."""
    for block in blocks:
        shared = {name: text for name, text in block.items() if isinstance(text, str)}
        shared = {name: remarks[text[1:]] if text.startswith("@") else text for name, text in shared.items()}
        entry, text = shared.pop("entry", ""), shared.pop("text", "")
        claims: dict[str, Any] = {name: _said(shared.pop(name)) for name in ("says", "right") if name in shared}
        for row, texts in block.get("rows", {entry: text}).items():
            if isinstance(texts, str):
                yield row, Printed(texts, **claims, **shared)
            else:
                for column, each in zip(block["columns"], texts, strict=True):
                    yield f"{row}, {column}", Printed(each, **claims, **shared)


def _said(text: str) -> Said:
    """Return a claim as the file writes it: ``= 1/2``, ``<= 3``, ``>= 4``, ``0 to 1/8``, or a printed number."""
    sign, _, number = text.partition(" ")
    if sign in _SIGNS:
        return _SIGNS[sign](Fraction(number))
    low, to, high = text.partition(" to ")
    return Bounds(Fraction(low), Fraction(high)) if to else text


_SIGNS: dict[str, Callable[[Fraction], Said]] = {"=": Fraction, "<=": AtMost, ">=": AtLeast}


def require(condition: bool, statement: str) -> None:
    """Check a statement that a computed entry relies on."""
    if not condition:
        raise ArithmeticError(f"internal error: it does not hold that {statement}")


def agreeing(cases: Iterable[tuple[str, bool]], what: str, note: str = "") -> ComputedEntry:
    """Count the cases that agree with the paper; the note names the exceptions."""
    listed = list(cases)
    failed = [name for name, fits in listed if not fits]
    count = len(listed) - len(failed)
    summary = (
        f"{count} of {len(listed)} {what} agree; not {', '.join(failed)}." if failed else f"All {count} {what} agree."
    )
    counted = f"{len(listed)} {what}"
    return ComputedEntry(Fraction(count), f"{summary} {note}".strip(), against=Fraction(len(listed)), counted=counted)


def rows_of(paper: Paper, name: str, step: Step) -> list[ReproducedEntry]:
    """Compute one table and return its rows with their verdicts."""
    computed = paper.tables[name].values(step)
    printed = paper.tables[name].printed
    return [_row(paper.name, name, entry, printed[entry], value) for entry, value in computed.items()]


def _row(paper: str, table: str, entry: str, printed: Printed, computed: ComputedEntry) -> ReproducedEntry:
    right = printed.right if computed.right is None else computed.right
    proper = right is None or verdict(right, computed.value) != "differs"
    fits = _compared(printed, computed)
    readings = tuple(
        OtherReading(name, other.value, _compared(printed, other) != "differs")
        for name, other in computed.readings.items()
    )
    judged, remark = fits, ""
    if printed.judgement:
        judged = printed.judgement if proper else "differs"
        remark = printed.beyond or printed.undecided
    elif computed.undecided and fits != "differs":
        judged, remark = "open", computed.undecided
    elif fits == "differs" and proper:
        remark = printed.erratum or printed.open
        fitting = [other for reading, other in zip(readings, computed.readings.values(), strict=True) if reading.fits]
        if right is not None and any(not other.undecided for other in fitting):
            judged = "reading"
        elif remark:
            judged = "erratum" if printed.erratum else "open"
            remark = " ".join(dict.fromkeys([remark, *(other.undecided for other in fitting)]))
    if judged == "differs":
        remark = ""
    return ReproducedEntry(
        paper=paper,
        table=table,
        entry=entry,
        published=printed.text,
        computed=computed.value,
        verdict=judged,
        note=" ".join(filter(None, (remark, computed.note))),
        counted=computed.counted,
        other_readings=readings,
        differs_if=_differs(printed, computed, right),
    )


def _claim(printed: Printed, computed: ComputedEntry) -> Said:
    claim = printed.says if computed.against is None else computed.against
    return printed.text if claim is None else claim


def _compared(printed: Printed, computed: ComputedEntry) -> str:
    """Compare a number with the print; without a comparable print it fits."""
    value = computed.value
    if isinstance(value, Estimate) and computed.print_error:
        value = Estimate(value.value, hypot(value.stderr, computed.print_error), value.samples)
    if printed.judgement and printed.says is None and computed.against is None:
        return "match"
    return verdict(_claim(printed, computed), value)


def _differs(printed: Printed, computed: ComputedEntry, right: Said | None) -> str:
    """Return the outcome that would make the row differ; empty where none would."""
    if right is None and (printed.judgement or printed.erratum or printed.open):
        return ""
    claims = [] if printed.judgement else [_claim(printed, computed)]
    if right is not None:
        claims.append(right)
    texts = list(dict.fromkeys(fitting(claim, computed.value) for claim in claims))
    return f"not {texts[0]}" if len(texts) == 1 else f"neither {texts[0]} nor {texts[1]}"


def in_columns(rows: Sequence[ReproducedEntry], columns: Sequence[str]) -> str:
    """Return rows whose entries end with the name of a column, as ``"3x3, Random, DOR"``, in these columns.

    What stands before the name of a row, here ``3x3``, heads a block. Where the verdict is not ``match`` or
    ``rounding``, it follows in parentheses with the printed value.
    """
    blocks: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        *block, name, _ = row.entry.split(", ")
        agrees = row.verdict in ("match", "rounding")
        cell = row.text() if isinstance(row.computed, Bounds) else brief(row.computed)
        text = cell if agrees else f"{cell} ({row.verdict}, {row.published})"
        blocks.setdefault(", ".join(block), {}).setdefault(name, []).append(text)
    parts = []
    for heading, lines in blocks.items():
        table: list[list[str]] = [[heading, *columns], *([name, *cells] for name, cells in lines.items())]
        widths = [max(len(line[at]) for line in table) for at in range(len(columns) + 1)]
        padded = ([f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)] for line in table)
        parts.append("\n".join("  ".join(line).rstrip() for line in padded))
    return "\n\n".join(parts)


# The worst of many random permutations, batch after batch


_CHUNK = 1000  # permutations whose loads stay in the cache


def worst_of_batches(
    loads: obliv.PairLoads,
    size: int,
    batches: int,
    rng: np.random.Generator,
    ceiling: Fraction,
    step: Step,
) -> list[Fraction]:
    """Return the largest channel load among `size` random permutations, for each of many batches."""
    table = _by_pair(loads)
    limit = ceiling * loads.denominator
    loads_of_batches = []
    for batch, stream in enumerate(rng.spawn(batches)):
        worst = 0
        for first in range(0, size, _CHUNK):
            nodes = np.broadcast_to(np.arange(len(table)), (min(_CHUNK, size - first), len(table)))
            drawn = stream.permuted(nodes, axis=1)
            worst = max(worst, int(_largest(table, drawn).max()))
            if worst >= limit:
                break
        loads_of_batches.append(Fraction(worst, loads.denominator))
        step((batch + 1) / batches)
    return loads_of_batches


def _by_pair(loads: obliv.PairLoads) -> Array:
    """Return numerators as a table [source, destination, channel], in the smallest type that cannot overflow."""
    n, channels = loads.terminals, loads.topology.channels
    largest = [loads.on_channel(c).max(axis=1).toarray().sum() for c in range(channels)]
    table = np.zeros((n, n, channels), np.min_scalar_type(-int(max(largest))))
    for c in range(channels):
        entries = loads.on_channel(c).tocoo()
        table[entries.row, entries.col, c] = entries.data
    return table


def largest_of(loads: obliv.PairLoads, destinations: Array) -> Array:
    """Return the numerator of the largest channel load of each permutation, a row of `destinations`."""
    table = _by_pair(loads)
    chunks = (destinations[first : first + _CHUNK] for first in range(0, len(destinations), _CHUNK))
    return np.concatenate([_largest(table, chunk) for chunk in chunks])


def _largest(table: Array, destinations: Array) -> Array:
    total = np.zeros((len(destinations), table.shape[2]), table.dtype)
    added = np.empty_like(total)
    for source, to in enumerate(destinations.T):
        # other modes than clip copy first
        np.take(table[source], to, axis=0, out=added, mode="clip")
        total += added
    largest: Array = total.max(axis=1)
    return largest


# All papers by name: their tables beside the published numbers, and their figures


_PAPERS = ("towles", "u2turn", "fat-tree", "bufferless")


def known() -> dict[str, str]:
    """Return the papers that can be reproduced, with a line about each."""
    return {name: _paper(name).about for name in _PAPERS}


def reproduce(paper: str, table: str = "", progress: Progress | None = None, layout: str = "rows") -> Reproduction:
    """Compute tables and figures of a paper and compare them with the published numbers."""
    source = _paper(_find(paper, _PAPERS, "paper"))
    _find(layout, ("rows", "paper"), "layout")
    if table in source.figures and table not in source.tables:
        raise SpecError.naming("{0} of {1} is a picture without a table: {draw} draws it", table, paper)
    tables = [_find(table, source.tables, f"table of {paper}")] if table else list(source.tables)
    layouts = [name for name in source.tables if source.tables[name].layout]
    if layout == "paper" and not set(layouts) & set(tables):
        has = (
            f"those of {paper} with the paper's layout are {', '.join(layouts)}" if layouts else f"{paper} has no other"
        )
        raise SpecError(f"{table or paper} is shown in rows; {has}")
    progress = rising(progress)
    began = time.perf_counter()
    rows: list[ReproducedEntry] = []

    def result() -> Reproduction:
        specs = {"paper": paper, "table": table} if table else {"paper": paper}
        pages = {}
        for name in layouts:
            listed = [row for row in rows if row.table == name]
            if listed and (layout == "paper" or source.tables[name].always):
                pages[name] = source.tables[name].layout(listed)  # type: ignore[misc]
        return Reproduction(
            provenance=provenance(specs, time.perf_counter() - began, "as each row says"),
            entries=tuple(rows),
            titles={name: source.tables[name].title for name in tables},
            pages=pages,
            below=tuple(name for name in pages if source.tables[name].always),
        )

    for done, name in enumerate(tables):

        def step(share: float, done: int = done, name: str = name) -> None:
            progress(f"{paper} {name}", (done + share) / len(tables))

        try:
            step(0.0)
            rows += rows_of(source, name, step)
            step(1.0)
        except KeyboardInterrupt:
            remaining = " ".join(tables[done:])
            raise Interrupted(f"not computed: {remaining}; ask for each of them by name", result()) from None
    return result()


def tables(paper: str) -> dict[str, str]:
    """Return the tables and figures of a paper that :func:`reproduce` computes, with their titles."""
    return {name: table.title for name, table in _paper(_find(paper, _PAPERS, "paper")).tables.items()}


def figures(paper: str) -> dict[str, Callable[[str | Path], None]]:
    """Return the functions that draw the figures of a paper into a file (need matplotlib)."""
    return dict(_paper(_find(paper, _PAPERS, "paper")).figures)


def draw(paper: str, folder: str | Path, figure: str = "", progress: Progress | None = None) -> list[Path]:
    """Draw the figures of a paper into a folder, each as ``PAPER-FIGURE.png`` (needs matplotlib)."""
    source = _paper(_find(paper, _PAPERS, "paper"))
    if figure in source.tables and figure not in source.figures:
        drawn = ", ".join(source.figures)
        raise SpecError(f"{figure} of {paper} is a table without a picture; the figures are {drawn}")
    names = [_find(figure, source.figures, f"figure of {paper}")] if figure else list(source.figures)
    require_matplotlib()
    progress = rising(progress)
    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be used as a folder: {error.strerror}", folder) from None
    files = []
    for done, name in enumerate(names):
        progress(f"{paper} {name}", done / len(names))
        files.append(folder / f"{paper}-{name}.png")
        source.figures[name](files[-1])
    return files


def _paper(name: str) -> Paper:
    paper: Paper = importlib.import_module(f"obliv.papers.{name.replace('-', '_')}").PAPER
    return paper


def _find(name: str, names: Iterable[str], what: str) -> str:
    if name not in names:
        raise SpecError(f"unknown {what} {name!r}: {did_you_mean(name, names)}")
    return name
