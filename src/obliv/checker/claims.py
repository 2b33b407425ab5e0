"""Saved worst-case claims: every part is checked for its form before it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from typing import Any

from obliv._util.files import digest_of, unpack
from obliv.errors import InputError
from obliv.results.base import NO_CAPACITY, Provenance
from obliv.results.markup import class_of, from_content
from obliv.results.numbers import rational

__all__ = [
    "Claim",
    "MalformedError",
    "certificate_of",
    "foreign_key",
    "is_certified",
    "misstated_key",
    "read_claim",
    "read_result",
]

_NO_CAPACITY_BEFORE = "no closed form of the capacity is known for this topology"  # what obliv 0.2.0 says
_MADE = {"provenance": Provenance().to_dict()}  # which claims inside others may lack

#: By kind, the parts of certificates that say what they prove, of which every one or any one is there.
_PARTS: dict[str, tuple[set[str], ...]] = {
    "worst": ({"denominator", "duals", "generators", "channels"},),
    "worst-channels": ({"denominator", "duals", "generators", "channels"},),
    "ratio": ({"denominator", "duals", "generators", "channels"}, {"denominator", "lengths", "flows", "unit"}),
    "traffic-ratio": ({"denominator", "patterns"},),
    "design": ({"worst", "channels"}, {"worst", "demands", "lengths"}),
    "bounds": ({"capacity_lengths"}, {"adaptive_lengths"}, {"oblivious"}),
    "pareto": ({"designs"},),
    "failures": ({"failed", "sources"},),
    "deadlock": ({"order"},),
}


def is_certified(result: Any) -> bool:
    """Return whether a result has a certificate of the form of its kind; one that was read, with a digest that fits."""
    certificate = getattr(result, "certificate", None)
    if not isinstance(certificate, dict) or not result.sealed:
        return False
    return any(parts <= certificate.keys() for parts in _PARTS.get(result.kind, ()))


class MalformedError(InputError):
    """A claim with a missing or malformed part."""


@dataclass(frozen=True, eq=False)
class Claim:
    """The certificate of a worst case or of a ratio; a ratio stands in `channel_load`."""

    kind: str
    topology: str
    routing: str
    channel_load: Fraction
    lower_bound: Fraction | None
    lower_bound_source: Any
    throughput: Fraction | None
    fraction_of_capacity: Fraction | None
    capacity: Fraction | None
    channel: dict[str, int]
    permutation: list[int] | None
    traffic: list[tuple[int, int, Fraction]] | None
    denominator: int
    duals: list[list[int]]
    generators: list[list[int]]
    channels: list[Any]
    sources: dict[str, str]
    digest_holds: bool
    rows: tuple[Any, ...] | None = None  #: The channels that a claim about each of them lists.
    row_loads: tuple[Fraction, ...] | None = None
    capacity_proof: Any = None  #: What proves a capacity without a closed form.
    skipped: Any = None  #: Number of pairs left out, if the claim gives it.

    @property
    def witness(self) -> list[tuple[int, int, Fraction]]:
        """The traffic that loads the named channel, as rows of source, destination and amount."""
        if self.traffic is not None:
            return self.traffic
        return [(i, j, Fraction(1)) for i, j in enumerate(self.permutation or [])]


def read_claim(content: dict[str, Any]) -> Claim:
    """Read the content of a saved claim."""
    kind = _get(content, "kind", str)
    rows, loads = None, None
    if kind == "worst-channels":  # what is proved is the largest of its loads
        loads = _require_largest(content)
        kind, rows = "worst", tuple(row.get("channel") for row in content["channels"])
    certificate = certificate_of(content)
    channel = content.get("channel")
    if not isinstance(channel, dict) or not all(_is_whole(channel.get(key)) for key in ("id", "tail", "head")):
        raise MalformedError("channel must contain id, tail and head")
    channels = _get(certificate, "channels", list)
    for entry in channels:
        if entry == "simple" or (
            isinstance(entry, dict) and entry.keys() == {"threshold"} and _is_whole(entry["threshold"])
        ):
            continue
        if not (isinstance(entry, list) and len(entry) == 2 and _is_whole(entry[0]) and isinstance(entry[1], list)):
            raise MalformedError('an entry of channels is neither "simple" nor [dual, word] nor {"threshold": number}')
        if not all(_is_whole(step) for step in entry[1]):
            raise MalformedError("a word in channels contains something other than generator numbers")
    traffic = content.get("traffic")
    if traffic is not None and content.get("permutation") is not None:
        raise MalformedError("it has two witnesses, a permutation and traffic")
    largest = 64 + (len(channels) + 1) ** 2  # of an array: no more nodes than channels, or a few
    denominator = _numbers(certificate, "denominator", largest)
    if not isinstance(denominator, int) or denominator < 1:
        raise MalformedError("the denominator must be a positive integer")
    return Claim(
        kind=kind,
        topology=_get(content, "topology", str),
        routing=_get(content, "routing", str),
        channel_load=_exact(content, "ratio" if kind == "ratio" else "channel_load", required=True) or Fraction(0),
        lower_bound=_exact(content, "lower_bound"),
        lower_bound_source=content.get("lower_bound_source", content.get("lower_bound_reason")),
        throughput=_exact(content, "throughput"),
        fraction_of_capacity=_exact(content, "fraction_of_capacity"),
        capacity=_exact(content, "capacity"),
        channel=channel,
        permutation=_permutation(content, certificate, largest) if traffic is None else None,
        traffic=None if traffic is None else _traffic(traffic),
        denominator=denominator,
        duals=_vectors(certificate, "duals", largest),
        generators=_vectors(certificate, "generators", largest),
        channels=channels,
        sources=_get(certificate, "sources", dict),
        rows=rows,
        row_loads=loads,
        capacity_proof=certificate.get("capacity"),
        skipped=content.get("skipped"),
        digest_holds=certificate.get("digest") == digest_of(content),
    )


def read_result(content: dict[str, Any]) -> Any:
    """Return the result that a claim holds, of its kind."""
    try:
        return class_of(content).from_dict(content)
    except (ArithmeticError, AttributeError, KeyError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise MalformedError(str(error) or type(error).__name__) from None


def certificate_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate of a claim; raise MalformedError if it has none."""
    certificate = content.get("certificate")
    if not isinstance(certificate, dict):
        raise MalformedError("it contains no certificate: save the result with one (certificate=True in Python)")
    return certificate


def foreign_key(content: dict[str, Any], inner: bool = False) -> str:
    """Return a key of a claim, or of one inside its certificate, that obliv does not write in such results; "" if none.

    Neither does it write other reasons why a figure is missing; there a figure could stand that nobody checks.
    """
    try:
        written = from_content(_MADE | content if inner else content).to_dict()
    except ValueError as error:
        raise MalformedError(str(error)) from None
    certificate = content.get("certificate")
    parts = certificate.values() if isinstance(certificate, dict) else ()
    claims = (claim for part in parts for claim in (part if isinstance(part, list) else (part,)))
    inside = (foreign_key(claim, True) for claim in claims if isinstance(claim, dict) and "kind" in claim)
    return next(chain(_foreign(content, written, ""), filter(None, inside)), "")


def _foreign(content: Any, written: Any, name: str) -> Iterator[str]:
    if _is_number(written):
        yield from (name,) if not _alike(content, written) else ()  # its decimal value is that of the exact one
    elif isinstance(content, dict) and isinstance(written, dict):
        for key, value in content.items():
            inner = f"{name}.{key}".lstrip(".")
            if key not in written or (key.endswith("_reason") and not _alike(value, written[key])):
                yield inner
            else:
                yield from _foreign(value, written[key], inner)
    elif isinstance(content, list) and isinstance(written, list):
        for value, row in zip(content, written, strict=False):
            yield from _foreign(value, row, f"{name}[*]")


def misstated_key(claimed: Any, content: dict[str, Any]) -> str:
    """Return the key of a figure of `content` that is not as read or does not follow from the others; "" if none.

    One that the others leave no room for does not follow from them either.
    """
    own = {field.name for field in fields(claimed)}
    right = claimed.to_dict()
    keys = {how.key or name: name in own for name, how in claimed.declared().items()}
    figures = (key for key, is_own in keys.items() if key in right and (not is_own or _is_number(right[key])))
    wrong = (key for key in figures if not _alike(content.get(key), right[key]))
    return next(chain(wrong, (key for key in keys if key in content and key not in right)), "")


def _is_number(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() in (
        {"exact", "value"},
        {"lower", "upper"},
        {"value", "stderr", "samples"},
    )


def _alike(value: Any, right: Any) -> bool:
    """Return whether two figures are equal; bounds are floats, which may differ in the last digits."""
    if value == _NO_CAPACITY_BEFORE:
        return bool(right == NO_CAPACITY)
    if not (isinstance(right, dict) and isinstance(value, dict) and value.keys() == right.keys() == {"lower", "upper"}):
        return bool(value == right)
    ends = ((value[side], right[side]) for side in ("lower", "upper"))
    return all(type(end) in (int, float) and math.isclose(end, own, rel_tol=1e-9, abs_tol=1e-12) for end, own in ends)


def _require_largest(content: dict[str, Any]) -> tuple[Fraction, ...]:
    """Return the loads of a claim about every channel; raise unless its own is the largest, on the channel it names."""
    rows = _get(content, "channels", list)
    largest = _exact(content, "channel_load", required=True)
    loads = [_exact(row, "channel_load", required=True) if isinstance(row, dict) else None for row in rows]
    if largest is None or any(load is None or load > largest for load in loads):
        raise MalformedError("channel_load is not the largest load of its channels")
    named = [load for row, load in zip(rows, loads, strict=True) if row.get("channel") == content.get("channel")]
    if named != [largest]:
        raise MalformedError("channel_load is not the largest load of its channels")
    return tuple(load for load in loads if load is not None)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _get(content: dict[str, Any], key: str, kind: type) -> Any:
    if not isinstance(content.get(key), kind):
        raise MalformedError(f"{key} is missing or not a {kind.__name__}")
    return content[key]


def _numbers(content: dict[str, Any], key: str, largest: int) -> Any:
    if key not in content:
        raise MalformedError(f"{key} is missing")
    try:
        return unpack(content[key], largest)
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, RecursionError) as error:
        raise MalformedError(f"{key} cannot be unpacked: {error}") from None


def _vectors(content: dict[str, Any], key: str, largest: int) -> list[list[int]]:
    vectors = _numbers(content, key, largest)
    if not isinstance(vectors, list) or any(
        not isinstance(vector, list) or any(not isinstance(x, int) for x in vector) for vector in vectors
    ):
        raise MalformedError(f"{key} must be a list of lists of integers")
    return vectors


def _permutation(content: dict[str, Any], certificate: dict[str, Any], largest: int) -> list[int]:
    image = _numbers(content, "permutation", largest)
    if not isinstance(image, list) or any(not isinstance(d, int) for d in image):
        raise MalformedError("permutation must be a list of integers")
    if _numbers(certificate, "permutation", largest) != image:
        raise MalformedError("the permutation of the certificate differs from that of the result")
    return image


def _traffic(rows: Any) -> list[tuple[int, int, Fraction]]:
    try:
        traffic = [(s, d, rational(amount)) for s, d, amount in rows]
    except (TypeError, ValueError, ZeroDivisionError):
        raise MalformedError("traffic must be rows of [source, destination, amount]") from None
    if not all(_is_whole(s) and _is_whole(d) for s, d, _ in traffic):
        raise MalformedError("traffic must be rows of [source, destination, amount]")
    return traffic


def _exact(content: dict[str, Any], key: str, required: bool = False) -> Fraction | None:
    """Return an exact number; None where it is absent and not required."""
    value = content.get(key)
    if value is None and not required:
        return None
    try:
        text, shown = value["exact"], value["value"]  # type: ignore[index]
        number = rational(text)
        fits = shown == number.numerator / number.denominator
    except (TypeError, KeyError, ValueError, OverflowError):
        raise MalformedError(f"{key} is not an exact number") from None
    if not fits:
        raise MalformedError(f"{key} shows {shown} for {text}")
    return number
