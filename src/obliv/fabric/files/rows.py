"""Readers of files that mix rows of numbers with other lines: what a row looks like is a table, one kernel reads it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from obliv._util.arrays import Array, starts
from obliv.errors import FileError
from obliv.fabric.files.assemble import LONGEST, FileBlocks
from obliv.fabric.files.ibnetdiscover import shown_line
from obliv.fabric.kernels import rows as kernels
from obliv.fabric.kernels.rows import BEGIN, OTHER, PART, LineTables, RowsRead, read_rows
from obliv.fabric.model import FindingPlace, Notes
from obliv.kernels import run

__all__ = [
    "BEGIN", "END", "OTHER", "PART", "REST", "Line", "RowReader", "Rows", "Token", "among", "before", "decimal", "find",
    "hexadecimal", "line", "mask", "maybe", "number", "rows_of", "skip", "store", "unless",
]  # fmt: skip

# What lines look like: tokens, with blanks and tabs before each that need not be there


_ANY = (1 << 63) - 1
_LEAST = -_ANY - 1
_BLANKS = b" \t"
_MOST = 1 << 15  # rows that one call of the kernel can return


class Token(NamedTuple):
    """What stands in a line: see `obliv.fabric.kernels.rows`."""

    token: int
    field: str = ""
    texts: tuple[bytes, ...] = ()
    decimal: int = 0  # most digits
    fewest: int = 1
    hexadecimal: int = 0  # most digits behind 0x
    least: int = _LEAST
    most: int = _ANY


def decimal(field: str, digits: int, most: int = _ANY) -> Token:
    """Return a decimal number."""
    return Token(kernels.NUMBER, field, decimal=digits, most=most)


def hexadecimal(field: str, digits: int, most: int = _ANY, *, fewest: int = 1, least: int = _LEAST) -> Token:
    """Return a hexadecimal number behind ``0x``, of at most 16 digits; all 64 bits are stored."""
    return Token(kernels.NUMBER, field, fewest=fewest, hexadecimal=digits, least=least, most=most)


def number(field: str, digits: int, hexadecimal: int, most: int = _ANY) -> Token:
    """Return a decimal number or a hexadecimal one behind ``0x``."""
    return Token(kernels.NUMBER, field, decimal=digits, hexadecimal=hexadecimal, most=most)


def mask(field: str, digits: int, most: int) -> Token:
    """Return a set of decimal numbers with commas between, stored as bits."""
    return Token(kernels.SET, field, decimal=digits, most=most)


def among(field: str, *words: bytes, first: int = 0) -> Token:
    """Return one of several words, stored as its place among them, from `first` on."""
    return Token(kernels.AMONG, field, words, least=first)


def maybe(word: bytes) -> Token:
    """Return a word that may be missing."""
    return Token(kernels.MAYBE, texts=(word,))


def unless(word: bytes) -> Token:
    """Return a word that must not stand here."""
    return Token(kernels.UNLESS, texts=(word,))


def skip(others: bytes) -> Token:
    """Return any number of blanks, tabs and other bytes, before the next token."""
    return Token(_SKIP, texts=(_BLANKS + others,))


def before(following: bytes) -> Token:
    """Return nothing, before one of some bytes."""
    return Token(_NEXT, texts=(following,))


def find(field: str, word: bytes, before: bytes = b"") -> Token:
    """Return all up to the end of a word, before some bytes; the field is 1, or 0 without them, and the line ends."""
    return Token(kernels.FIND, field, (word + before,), fewest=len(word))


_SKIP, _NEXT = -1, -2
END, REST = Token(kernels.END), Token(kernels.REST)


class Line(NamedTuple):
    """A kind of line: a row of some kind, or `PART`, `BEGIN` or `OTHER`, and its tokens.

    Fields that it needs are given by lines before, of the kind `PART`; `BEGIN` forgets them.
    """

    kind: int
    tokens: tuple[Token, ...]
    needs: tuple[str, ...] = ()


def line(kind: int, *tokens: Token | bytes, needs: tuple[str, ...] = ()) -> Line:
    """Return a kind of line; bytes are words, and lines end behind the last token unless that is `REST`."""
    whole = [token if isinstance(token, Token) else Token(kernels.WORD, texts=(token,)) for token in tokens]
    return Line(kind, (*whole, *(() if whole[-1] is REST else (END,))), needs)


class Rows(NamedTuple):
    """The kinds of lines of a file, in the order in which they are tried, and how these begin."""

    fields: tuple[str, ...]
    tables: LineTables
    begins: re.Pattern[bytes]


def rows_of(*lines: Line) -> Rows:
    """Return the tables of kinds of lines for the kernel."""
    fields = list(dict.fromkeys(token.field for line in lines for token in line.tokens if token.field))
    words: list[bytes] = []
    classes = [b"", bytes(range(256)), _BLANKS]
    nothing, anything, blanks = range(3)
    tokens: list[tuple[int, ...]] = []
    first = [0]
    for line in lines:
        here, skipped = anything, blanks
        for token in line.tokens:
            if token.token in (_NEXT, _SKIP):
                here, skipped = (len(classes), blanks) if token.token == _NEXT else (here, len(classes))
                classes += token.texts
                continue
            skipped = nothing if token.token in (kernels.FIND, kernels.REST) else skipped
            field = fields.index(token.field) if token.field else 0
            place = len(words) if token.texts else token.decimal
            count = len(token.texts) if token.token == kernels.AMONG else token.fewest
            tokens.append((here, skipped, token.token, field, place, count, token.hexadecimal, token.least, token.most))
            words += token.texts
            here, skipped = anything, blanks
        first.append(len(tokens))
    tables = LineTables(
        tokens=np.array(tokens, np.int64),
        first=np.array(first, np.int64),
        kind=np.array([line.kind for line in lines], np.int64),
        needs=np.array([sum(1 << fields.index(name) for name in line.needs) for line in lines], np.int64),
        gives=np.array([_given(line, fields) for line in lines], np.int64),
        words=np.frombuffer(b"".join(words) or b"\0", np.uint8),
        bounds=starts([len(word) for word in words]),
        classes=np.array([np.isin(np.arange(256), list(members)) for members in classes]),
        digit=_DIGIT,
    )
    return Rows(tuple(fields), tables, re.compile(b"[ \t]*(?:%s)" % b"|".join(map(_beginning, lines))))


def _given(line: Line, fields: list[str]) -> int:
    """Return the fields that a part of a row gives, as bits."""
    return sum(1 << fields.index(token.field) for token in line.tokens if token.field and line.kind == PART)


def _beginning(line: Line) -> bytes:
    """Return a pattern of how a line begins."""
    token = next(token for token in line.tokens if token.token not in (kernels.UNLESS, _SKIP))
    if token.token == kernels.NUMBER:
        return b"[0-9]" if token.decimal else b"0[xX]"
    text = re.escape(token.texts[0])
    return b"[%s]" % text if token.token == _NEXT else text


_DIGIT = np.array([int(chr(byte), 16) if chr(byte) in "0123456789abcdefABCDEF" else -1 for byte in range(256)])


# Files: rows by the kernel, all other lines one by one


class RowReader(ABC):
    """The state of reading a file."""

    def __init__(self, blocks: FileBlocks, rows: Rows) -> None:
        self.path, self.notes = str(blocks.path), Notes(str(blocks.path))
        self.line = 0  # lines read
        self._blocks, self._format = blocks, rows
        most = min(_MOST, max(blocks.length, 1 << 10))
        self._rows = np.zeros((len(rows.fields) + 1, most), np.int64)
        self._partial = np.zeros(len(rows.fields) + 1, np.int64)
        self._seen = 0

    def read(self, step: Callable[[float], None] | None = None) -> None:
        """Read the file."""
        for block in self._blocks:
            self._seen += len(block)
            self._read(block)
            if step is not None and self._seen <= self._blocks.length:
                step(self._seen / self._blocks.length)

    @property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """The file and its SHA-256, once it is read."""
        return ((self.path, self._blocks.sha256),)

    @property
    def here(self) -> FindingPlace:
        """What the lines that are being read are about."""
        return FindingPlace()

    @abstractmethod
    def take(self, kind: int, rows: dict[str, Array]) -> None:
        """Take rows of one kind: the fields by name, which the next rows replace, and ``line``."""

    @abstractmethod
    def other(self, line: bytes, number: int) -> None:
        """Read a line that is neither a row nor blank."""

    def require(self, line: bytes, number: int, what: str, others: Mapping[str, re.Pattern[bytes]]) -> None:
        """Raise FileError if a line shows that the file contains something else than what it should."""
        for kind, sign in others.items():
            if sign.match(line):
                raise FileError(f"contains {kind}, not {what}", self.path, number)

    def expects(self) -> bool:
        """Return whether rows may follow."""
        return True

    def unended(self, line: bytes) -> None:
        """Note the last line, which has no end, unless it is blank or a comment."""
        if line.strip() and not line.lstrip().startswith(b"#"):
            self.note_cut(line)

    def note_cut(self, line: bytes) -> None:
        """Note that the file ends within a line."""
        text = f"the file ends in the middle of a line: {shown_line(line)}"
        self.notes.add("error", "cut-off", text, self.line + 1, self.here)

    def _read(self, block: bytes) -> None:
        """Read whole lines, and at the end of the file a line without its end."""
        stop = block.rfind(b"\n") + 1
        data, at = np.frombuffer(block, np.uint8), 0
        while at < stop:
            if self.expects() and self._format.begins.match(block, at) and (end := self.read_rows(data, at, stop)) > at:
                at = end
                continue
            end = block.index(b"\n", at)
            self.line += 1
            if (line := block[at : min(end, at + LONGEST + 1)]).strip():
                self.other(line, self.line)
            at = end + 1
        if rest := block[stop : stop + LONGEST]:
            self.unended(rest)

    def read_rows(self, data: Array, at: int, stop: int) -> int:
        """Read the rows that begin at a position; return where they end."""
        work = float(max(self._blocks.length, self._seen))
        read = RowsRead(*map(int, run(read_rows, work, data, at, stop, self._format.tables, self._partial, self._rows)))
        if read.rows:
            columns = self._rows[:, : read.rows]
            columns[-1] += self.line
            self.take(read.kind, dict(zip((*self._format.fields, "line"), columns, strict=True)))
        self.line += read.lines
        return read.at


def store(tables: tuple[Array, ...], place: Array, values: tuple[Array, ...], empty: int) -> Array:
    """Store values by place, of several for one place the last; return which differ from those that were there before.

    Nothing is where the first of the tables has the value `empty`.
    """
    known = [table[place] for table in tables]
    if (place[1:] <= place[:-1]).any():  # some place may be there twice
        order = np.argsort(place, kind="stable")
        again = np.flatnonzero(place[order[1:]] == place[order[:-1]])
        for old, new in zip(known, values, strict=True):
            old[order[again + 1]] = new[order[again]]
    differ = np.zeros(len(place), bool)
    for table, old, new in zip(tables, known, values, strict=True):
        differ |= old != new
        table[place] = new
    return np.asarray(differ & (known[0] != empty))
