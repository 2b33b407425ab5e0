"""Certificates of saved results, read: every part is checked for its form before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from obliv._util.arrays import Array
from obliv._util.files import digest_of, unpack, unpack_array
from obliv.errors import InputError
from obliv.results.numbers import rational

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


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say of a part of a claim that is missing or of another form which one it is."""
    try:
        yield
    except MalformedError:
        raise
    except (ArithmeticError, AttributeError, KeyError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise MalformedError(f"{what} cannot be unpacked: {error}") from None


def array_of(value: Any, what: str, most: int, *shape: int) -> Array:
    """Return an array of up to `most` whole numbers of 64 bits, of a shape if one is given."""
    with reading(what):
        array: Array = unpack_array(value, most)
        return array.reshape(shape) if shape else array


def certificate_of(content: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate of a claim; raise MalformedError if it has none."""
    certificate = content.get("certificate")
    if not isinstance(certificate, dict):
        raise MalformedError("it contains no certificate: save the result with one (certificate=True in Python)")
    return certificate


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
    with reading(key):
        return unpack(content[key], largest)


def _vectors(content: dict[str, Any], key: str, largest: int) -> list[list[int]]:
    vectors = _numbers(content, key, largest)
    if not isinstance(vectors, list) or any(
        not isinstance(vector, list) or not {int}.issuperset(map(type, vector)) for vector in vectors
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
