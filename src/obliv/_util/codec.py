"""Saved claims: one self-contained JSON file, read and written whole."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from math import prod
from pathlib import Path
from typing import Any

from obliv._util.cost import require_memory
from obliv._util.files import read_source, write_whole
from obliv._util.text import shown
from obliv.errors import FileError

__all__ = [
    "DIGITS",
    "RepeatedKeyError",
    "digest_of",
    "inflated",
    "pack",
    "plain",
    "read_json",
    "read_json_source",
    "unlike_keys",
    "unpack",
    "unpack_array",
    "whole",
    "write_json",
]


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
