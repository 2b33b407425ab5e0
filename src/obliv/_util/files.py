"""Files: untrusted ones read with limits, others written whole or not at all; saved claims; contents of objects."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import re
import secrets
import stat
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from obliv._util.progress import require_memory
from obliv._util.text import shown
from obliv.errors import FileError

GZIP = b"\x1f\x8b"  #: The first bytes of a compressed file.
PACKED = 1 << 14  #: Bytes of a piece; small, since the rest of a piece is copied at each member, and there may be many.

_BINARY = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"BZh", "compressed with bzip2: unpack it first (bunzip2)"),
    (b"\xfd7zXZ", "compressed with xz: unpack it first (unxz)"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite file; obliv study and obliv report read stores of studies"),
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([^"'>]{0,40})["']""")
_ENCODING = re.compile(
    r"(utf-?(8|16)|us-ascii|ascii|latin-?1|(iso-?)?8859-\d\d?|iso-8859-\d\d?|(windows-|cp)125\d|koi8-[ru]"
    r"|gbk|gb2312|gb18030|big5|shift_jis|euc-(jp|kr))\Z",
    re.IGNORECASE,
)
_LARGEST = 2**29  # bytes that a compressed file may hold; a small one can hold any number


def read_bytes(path: str | Path) -> bytes:
    """Read a regular file, decompressed if necessary; FileError if it cannot be read, is cut short or is empty."""
    return _read_once(path)[0]


def _read_once(path: str | Path) -> tuple[bytes, str]:
    """Return the content of a file, decompressed, and the SHA-256 of the file on disk, from one read."""
    size = require_file(path)
    require_memory(60.0 * size, f"reading {path}")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path) from None
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(GZIP):
        packed = (data[at : at + PACKED] for at in range(0, len(data), PACKED))
        pieces, total = [], 0
        for piece in unpacked(packed, path, _LARGEST):  # the limits are those of what it holds
            pieces.append(piece)
            total += len(piece)
            require_memory(3.0 * total, f"reading {path}")
        data = b"".join(pieces)
    if not data.strip():
        raise FileError("the file is empty", path)
    return data, digest


class UnreadableError(FileError):
    """A file that may not be read, or cannot be: nothing of its content is known."""


_readable: list[Path] | None = None  # None: every file
_read: list[str] = []  # files that were read while others were forbidden


def read_only_from(paths: Iterable[str | Path]) -> None:
    """Let this process read no other input files than these, and those in these folders, from now on."""
    global _readable
    _readable = [Path(path).resolve() for path in paths]


@contextlib.contextmanager
def reading_from(paths: Iterable[str | Path] | None) -> Iterator[None]:
    """Let this process read these input files, those in these folders, or all of them, inside a ``with`` statement."""
    global _readable, _read
    before = _readable, _read
    _readable = None if paths is None else [Path(path).resolve() for path in paths]
    _read = _read if paths is None else []
    try:
        yield
    finally:
        _readable, _read = before


def paths_of(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return one path, or several, as a list."""
    return [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]


def files_read() -> list[str]:
    """Return the files that this process has read while it might not read others."""
    return list(_read)


def require_file(path: str | Path) -> int:
    """Return the size of a regular file in bytes; UnreadableError if there is none, it is no regular file or empty."""
    if _readable is not None and not _may_be_read(path):
        raise UnreadableError.naming("may not be read from here: allow it, or its folder, with {files}=PATH", path=path)
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        raise UnreadableError("file not found", path) from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}", path) from None
    except ValueError:  # a NUL in the name
        raise UnreadableError("not a valid file name", shown(str(path))) from None
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableError("is a directory; name a file in it", path)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError("not a regular file: save its content to a file first", path)
    if status.st_size == 0:
        raise UnreadableError("the file is empty", path)
    if _readable is not None:
        _read.append(str(path))
    return status.st_size


def files_in(folder: str | Path) -> list[tuple[str, int]]:
    """Return the names and sizes of the regular files in a folder, by name; FileError if it cannot be read."""
    if _readable is not None:
        if not _may_be_read(folder):
            raise UnreadableError.naming("may not be read from here: allow it with {files}=PATH", path=folder)
        _read.append(str(folder))
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.stat().st_size) for entry in entries if entry.is_file())
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", folder) from None


def _may_be_read(path: str | Path) -> bool:
    try:
        real = Path(path).resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL in the name
        return False
    return any(real == allowed or allowed in real.parents for allowed in _readable or ())


def unpacked(pieces: Iterable[bytes], path: str | Path, most: int, size: int = 1 << 22) -> Iterator[bytes]:
    """Decompress a gzip file, given in pieces of `PACKED` bytes, into pieces of at most `size` bytes.

    FileError if the file is damaged, cut short or holds more than `most` bytes; a small file can hold any number.
    """
    member, total = zlib.decompressobj(zlib.MAX_WBITS | 16), 0
    for data in pieces:
        while data:
            if member.eof:  # files that were joined: one member follows another, zeros may fill the end
                data = data.lstrip(b"\0")
                if not data:
                    break
                member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                text = member.decompress(data, size)
            except zlib.error:
                raise FileError("is compressed with gzip, but damaged: copy it again", path) from None
            data = member.unused_data if member.eof else member.unconsumed_tail
            total += len(text)
            if total > most:
                raise FileError(f"holds more than {most} bytes", path)
            if text:
                yield text
    if not member.eof:
        raise FileError("is compressed with gzip, but cut short: copy it again", path)


def read_text(path: str | Path) -> str:
    """Read a text file, compressed with gzip or not, in UTF-8 or as its byte order mark or XML declaration says.

    FileError if it cannot be read or is not text, with the first line that is not.
    """
    return read_source(path)[0]


def read_source(path: str | Path) -> tuple[str, str]:
    """Return the text of a file as :func:`read_text` does, and the SHA-256 of the same bytes as they are on disk.

    The file is read once: a file that is replaced meanwhile is not read under the digest of another.
    """
    data, digest = _read_once(path)
    for magic, what in _BINARY:
        if data.startswith(magic):
            raise FileError(f"is {what}; a text file is needed", path)
    declared = _DECLARED.match(data.lstrip()[:400])
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if not encoding and declared:
        encoding = declared[1].decode("ascii", "replace")
        if not _ENCODING.match(encoding):
            raise FileError(f"the encoding {shown(encoding)} is unknown: save the file as UTF-8", path, 1)
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if 0 in data:
            raise FileError("is a binary file; a text file is needed", path) from None
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "convert it, for example with  iconv -f latin1 -t utf-8"
        raise FileError(f"is not {encoding or 'UTF-8'} text: {remedy}", path, line) from None
    except LookupError:
        raise FileError(f"the encoding {shown(encoding)} is unknown: save the file as UTF-8", path, 1) from None
    if "\0" in text:
        raise FileError("is a binary file; a text file is needed", path)
    return text, digest


def without_mark(data: bytes, path: str | Path) -> bytes:
    """Return the first bytes of a file in UTF-8 without its byte order mark; FileError if it marks UTF-16."""
    mark, encoding = next((entry for entry in _BOMS if data.startswith(entry[0])), (b"", ""))
    if encoding == "utf-16":
        raise FileError("is UTF-16 text: save it as UTF-8", path)
    return data[len(mark) :]


def write_whole(path: str | Path, data: bytes) -> None:
    """Write under a temporary name in the same folder, then rename, so that no half-written file is seen.

    A symbolic link, a device or a pipe is not replaced: its target is written.
    """
    write_pieces(path, [data])


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write as :func:`write_whole` does, piece by piece, what would not fit in memory."""
    require_place(path)
    try:
        target = Path(os.path.realpath(path))
        replaced = os.path.isfile(target) or not os.path.exists(target)
    except ValueError:
        raise FileError("not a valid file name", repr(str(path))) from None
    try:
        if not replaced:
            with open(target, "wb") as stream:
                stream.writelines(pieces)
            return
        draft = _beside(target)
        with _removed_on_failure([(draft, target)]):
            with open(draft, "xb") as stream:
                stream.writelines(pieces)
            others = _drafts.get()
            if others is None:
                os.replace(draft, target)
            else:
                others.append((draft, target))
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", path) from None


#: Files that wait for others: their drafts, and their names.
_drafts: ContextVar[list[tuple[Path, Path]] | None] = ContextVar("_drafts", default=None)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Write the files inside a ``with`` statement all or none: they get their names at its end.

    A process that is killed while they get their names leaves some of the old files or some of the new ones under
    their names, never both kinds; the others are beside them, whole, as ``.obliv-….tmp``.
    """
    if _drafts.get() is not None:  # inside another one, at whose end they get their names
        yield
        return
    drafts: list[tuple[Path, Path]] = []
    token = _drafts.set(drafts)
    try:
        with _removed_on_failure(drafts):
            yield
            _get_names(drafts)
    finally:
        _drafts.reset(token)


def _get_names(drafts: list[tuple[Path, Path]]) -> None:
    """Rename drafts to their targets; of several, files that are there give way first, and come back if that fails."""
    several = len(drafts) > 1
    aside: list[tuple[Path, Path]] = []
    target = Path()
    try:
        for _, target in drafts if several else ():
            if target.exists():
                aside.append((_beside(target), target))
                os.replace(target, aside[-1][0])
        for draft, target in drafts:
            os.replace(draft, target)
    except BaseException as error:
        for draft, new in drafts if several else ():
            if not draft.exists():
                new.unlink(missing_ok=True)
        for old, place in aside:
            with contextlib.suppress(FileNotFoundError):  # it had not given way yet
                os.replace(old, place)
        if isinstance(error, OSError):
            raise FileError(f"cannot be written: {error.strerror or error}", target) from None
        raise
    for old, _ in aside:
        with contextlib.suppress(OSError):
            old.unlink()


def _beside(target: Path) -> Path:
    """Return a temporary name in the folder of a file."""
    return target.with_name(f".obliv-{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def _removed_on_failure(drafts: list[tuple[Path, Path]]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for draft, _ in drafts:
            with contextlib.suppress(OSError):
                draft.unlink()
        raise


def require_place(path: str | Path) -> None:
    """Refuse a path where no file can be written, before any work is done for it."""
    if str(path) == "-":
        raise FileError("not a file name", "-")
    try:
        if os.path.isdir(path):
            raise FileError("is a directory; name a file in it", path)
        if not os.path.isdir(Path(path).absolute().parent):
            raise FileError("its directory does not exist", path)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError("not a valid file name", repr(str(path))) from None


# Saved claims: one self-contained JSON file, read and written whole


_OBJECT = "a JSON object is needed, { ... }, as results are saved"
_NUMBERS = 2**30  # of the largest array
#: Of numbers in files: obliv does not write longer ones, which are slow to read.
DIGITS = 4000


def pack(values: Any) -> Any:
    """Return an integer array as JSON: a list where it is small, compressed bytes where it is large."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype == object:
        return [pack(row) for row in array] if array.ndim > 1 else [whole(int(x)) for x in array]
    if array.size <= 256:
        return array.tolist()
    array = np.ascontiguousarray(array, dtype=np.int64)
    return {
        "b64zlib": b64encode(zlib.compress(array.astype("<i8").tobytes(), 6)).decode("ascii"),
        "dtype": "int64",
        "shape": list(array.shape),
    }


def whole(value: int) -> int | str:
    """Return a whole number, as text beyond 64 bits: many readers of JSON would round it."""
    return value if -(2**63) <= value < 2**63 else str(value)


def plain(value: Any) -> Any:
    """Return JSON with lists in place of compressed arrays, for standard output."""
    if isinstance(value, dict):
        if value.keys() == {"b64zlib", "dtype", "shape"}:
            return inflated(value).tolist()
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def unpack(value: Any, most: int = _NUMBERS) -> Any:
    """Return what :func:`pack` packed, as nested lists of whole numbers.

    Raises
    ------
    ValueError
        If there is anything else in it, or a compressed array holds more than `most` numbers.
    """
    if isinstance(value, dict):
        return inflated(value, most).tolist()
    if isinstance(value, list):
        return [unpack(entry, most) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{value!r} where a whole number is needed")
    if isinstance(value, str) and (len(value) > DIGITS or not value.removeprefix("-").isdecimal()):
        raise ValueError(f"{value[:40]!r} where a whole number is needed")
    return int(value)


def unpack_array(value: Any, most: int = _NUMBERS) -> Any:
    """Return what :func:`unpack` returns, as an int64 array; ValueError if it is anything else."""
    import numpy as np

    if isinstance(value, dict):
        array = inflated(value, most)
    else:
        whole = unpack(value, most)
        try:
            array = np.array(whole, dtype=np.int64) if whole else np.zeros(0, np.int64)
        except (TypeError, OverflowError):
            raise ValueError("rows of unlike form, or numbers beyond 64 bits") from None
    if not array.ndim:
        raise ValueError("a number where an array is needed")
    return array


def inflated(value: dict[str, Any], most: int = _NUMBERS) -> Any:
    """Return an int64 array that :func:`pack` compressed; ValueError, KeyError or TypeError if it is anything else."""
    import numpy as np

    shape = value["shape"]
    if value["dtype"] != "int64" or not all(type(n) is int and 0 <= n < 2**31 for n in shape):
        raise ValueError("an array that is not int64")
    size = 8 * prod(shape)
    if size > 8 * min(most, _NUMBERS):
        raise ValueError(f"an array of {prod(shape)} numbers")
    require_memory(2.0 * size, f"an array of {prod(shape)} numbers")
    try:
        data = zlib.decompressobj().decompress(b64decode(value["b64zlib"], validate=True), size + 1)
    except zlib.error as error:
        raise ValueError(f"a compressed array is damaged: {error}") from None
    if len(data) != size:
        raise ValueError(f"an array of {len(data)} bytes where {size} are announced")
    return np.frombuffer(data, "<i8").reshape(shape)


def digest_of(claim: dict[str, Any]) -> str:
    """Return the SHA-256 of a saved claim without its digest, as canonical JSON (sorted keys, no blanks, ASCII).

    The digest stands in the certificate, or beside the moves of a schedule.
    """
    bare = dict(claim)
    if "moves" in bare or "classes" in bare:
        bare.pop("digest", None)
    if isinstance(bare.get("certificate"), dict):
        bare["certificate"] = {key: value for key, value in bare["certificate"].items() if key != "digest"}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def write_json(value: dict[str, Any], path: str | Path) -> None:
    """Write JSON, compressed where the name ends in ``.gz``, whole or not at all."""
    text = (json.dumps(value, separators=(",", ":"), ensure_ascii=True) + "\n").encode("ascii")
    write_whole(path, gzip.compress(text, 6, mtime=0) if str(path).endswith(".gz") else text)


def unlike_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; ValueError if a key is repeated, of which readers would believe one or the other."""
    value = dict(pairs)
    if len(value) < len(pairs):
        seen = set[str]()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f"the key {shown(key)} is repeated in an object")
    return value


class RepeatedKeyError(ValueError):
    """An object of JSON with two values of one key."""


def _limited(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError("a number of too many digits")
    return int(digits)


def read_json(path: str | Path) -> dict[str, Any]:
    """Read the object in a JSON file that obliv wrote, plain or compressed.

    Raises
    ------
    FileError
        If it cannot be read, is cut short, or is not an object.
    """
    return read_json_source(path)[0]


def read_json_source(path: str | Path) -> tuple[dict[str, Any], str]:
    """Return the object in a JSON file and the file's SHA-256, see :func:`obliv._util.files.read_source`."""
    text, digest = read_source(path)
    parts = sum(map(text.count, ",[{"))  # a list or an object takes up to 64 bytes, and 16 in the one around it
    require_memory(80.0 * parts + 2.0 * len(text), f"reading {path}")
    try:
        value = json.loads(text, parse_int=_limited, object_pairs_hook=unlike_keys)
    except json.JSONDecodeError as error:
        if text.lstrip()[:1] != "{":
            raise FileError(_OBJECT, path) from None
        what = error.msg.removesuffix(" at")  # a word that a position follows
        raise FileError(f"invalid JSON: {what} (character {error.colno} of the line)", path, error.lineno) from None
    except RepeatedKeyError as error:
        raise FileError(f"invalid JSON: {error}", path) from None
    except (RecursionError, ValueError):
        raise FileError("invalid JSON: it is nested too deeply, or a number has too many digits", path) from None
    if not isinstance(value, dict):
        raise FileError(_OBJECT, path)
    return value, digest


# The content of an object: its attributes without cached properties


def state_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object without its cached properties, which can be computed again."""
    kind = type(value)
    return {name: v for name, v in vars(value).items() if not isinstance(getattr(kind, name, None), cached_property)}


class Value:
    """Base of objects that are equal where their attributes are, arrays number by number; cached ones apart."""

    def __eq__(self, other: object) -> bool:
        return same_content(state_of(self), state_of(other)) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *(value for value in state_of(self).values() if isinstance(value, int | str))))

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)


def same_content(one: Any, two: Any) -> bool:
    """Return whether two objects are equal, attribute by attribute, arrays number by number.

    Examples
    --------
    >>> import numpy as np
    >>> same_content([np.arange(3), {"a": 1}], [np.arange(3), {"a": 1}])
    True
    """
    import numpy as np

    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype.kind == two.dtype.kind and np.array_equal(one, two)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same_content, one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same_content(entry, two[key]) for key, entry in one.items())
    if is_dataclass(one):
        return all(same_content(getattr(one, field.name), getattr(two, field.name)) for field in fields(one))
    if not any("__eq__" in vars(base) for base in type(one).__mro__[:-1]) and hasattr(one, "__dict__"):
        return same_content(state_of(one), state_of(two))
    return bool(one == two)
