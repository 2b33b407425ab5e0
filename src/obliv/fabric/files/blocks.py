"""Large text files read in blocks of whole lines, compressed with gzip or not, with their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from obliv._util.files import GZIP, PACKED, require_file, unpacked
from obliv._util.typing import Array
from obliv.errors import FileError

__all__ = ["LONGEST", "Blocks", "lines_of", "read_mixed"]

#: Bytes of the longest line that is read; real lines have a few hundred.
LONGEST = 4096

_SIZE = 1 << 22
_MOST = 1 << 36  # decompressed bytes of a file: a limit against decompression bombs


class Blocks:
    """The blocks of a file, each of whole lines; the last may lack its line end.

    Parameters
    ----------
    path : str or Path
    size : int
        Bytes of a block, about.

    Attributes
    ----------
    length : int
        Bytes of the file as it stands.
    sha256 : str
        Of the file as it stands, when all blocks were taken.
    ended : bool
        Whether the last line had its end, when all blocks were taken.
    """

    def __init__(self, path: str | Path, size: int = _SIZE) -> None:
        self.path = path
        self.length = require_file(path)
        self.sha256 = ""
        self.ended = True
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        rest, first = b"", True
        for data in self._text():
            if first:
                data, first = _plain(data, self.path), False
            end = data.rfind(b"\n") + 1
            if end:
                yield rest + data[:end]
                rest = data[end:]
            else:
                rest += data
            if len(rest) > LONGEST:  # too long for a line of such a file: its end is dropped
                rest = rest[: LONGEST + 1]
        self.ended = not rest
        if rest:
            yield rest

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield every line with its number, cut as by :func:`lines_of`."""
        number = 0
        for block in self:
            for line in lines_of(block):
                number += 1
                yield number, line

    def _text(self) -> Iterator[bytes]:
        """Yield the content of the file, decompressed."""
        digest = hashlib.sha256()
        try:
            with open(self.path, "rb") as stream:
                packed = stream.read(len(GZIP)) == GZIP
                stream.seek(0)
                pieces = _pieces(stream, digest, PACKED if packed else self._size)
                yield from unpacked(pieces, self.path, _MOST, self._size) if packed else pieces
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", self.path) from None
        self.sha256 = digest.hexdigest()


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of a block without their ends; a line longer than `LONGEST` is cut a byte later."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if max(map(len, lines), default=0) > LONGEST:
        lines = [line[: LONGEST + 1] for line in lines]
    return [line.rstrip(b"\r") for line in lines] if b"\r" in block else lines


def _pieces(stream: BinaryIO, digest: hashlib._Hash, size: int) -> Iterator[bytes]:
    while data := stream.read(size):
        digest.update(data)
        yield data


def _plain(data: bytes, path: str | Path) -> bytes:
    """Return the first block without a byte order mark."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError("is UTF-16 text: save it as UTF-8", path)
    return data.removeprefix(b"\xef\xbb\xbf")


def read_mixed(block: bytes, rows: Callable[[bytes, Array, int, int], int], other: Callable[[bytes], None]) -> bytes:
    """Read the whole lines of a block: as many as possible by a kernel, the others one by one.

    Parameters
    ----------
    block : bytes
    rows : callable
        Called with the block, its bytes as an array, a position where a line begins and the end of the whole lines;
        reads rows from there and returns the position behind them, the same position where there is none.
    other : callable
        Called with a line that is no row, without its end, cut after :data:`LONGEST` bytes and one.

    Returns
    -------
    bytes
        The last line if it lacks its end, else nothing.
    """
    stop = block.rfind(b"\n") + 1
    data, at = np.frombuffer(block, np.uint8), 0
    while at < stop:
        behind = rows(block, data, at, stop)
        if behind > at:
            at = behind
            continue
        end = block.index(b"\n", at)
        other(block[at : min(end, at + LONGEST + 1)])
        at = end + 1
    return block[stop : stop + LONGEST]
