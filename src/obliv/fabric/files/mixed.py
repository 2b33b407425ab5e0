"""Files that mix rows, which a kernel reads, with other lines."""

from __future__ import annotations

from abc import ABC, abstractmethod

from obliv._util.typing import Array
from obliv.fabric.files.blocks import read_mixed
from obliv.fabric.files.lines import shown_line
from obliv.fabric.notes import Notes, Place

__all__ = ["MixedReader"]


class MixedReader(ABC):
    """The state of reading a file.

    Parameters
    ----------
    path : str
    length : int
        Bytes of the file.
    """

    def __init__(self, path: str, length: int) -> None:
        self.path, self.notes = path, Notes(path)
        self._length, self._seen = length, 0
        self._line = 0  # lines read

    @property
    def _work(self) -> float:
        """The elementary steps of reading all of the file, as far as that is known."""
        return float(max(self._length, self._seen))

    def read(self, block: bytes) -> None:
        """Read whole lines, and at the end of the file a line without its end."""
        self._seen += len(block)
        if rest := read_mixed(block, self._rows_at, self._other):
            self._unended(rest)

    @abstractmethod
    def _rows_at(self, block: bytes, data: Array, at: int, stop: int) -> int:
        """Read the rows that begin at a position; return where they end."""

    @abstractmethod
    def _other(self, line: bytes) -> None:
        """Read a line that is not a row."""

    @property
    def _here(self) -> Place:
        """What the lines that are being read are about."""
        return Place()

    def _unended(self, line: bytes) -> None:
        """Note the last line, which has no end, unless it is blank or a comment."""
        if line.strip() and not line.lstrip().startswith(b"#"):
            text = f"the file ends in the middle of a line: {shown_line(line)}"
            self.notes.add("error", "cut-off", text, self._line + 1, self._here)
