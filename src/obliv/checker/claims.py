"""A saved worst-case claim: read, taken apart, every number checked for what it is before it is used."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from obliv._util.codec import digest_of, unpack
from obliv.errors import InputError
from obliv.results.numbers import rational

__all__ = ["Claim", "MalformedError", "read_claim"]


class MalformedError(InputError):
    """A claim whose parts do not have the form that claims have."""


@dataclass(frozen=True, eq=False)
class Claim:
    """What the certificate of a worst case, or of a ratio, says; a ratio counts as the load that it is."""

    kind: str
    topology: str
    routing: str
    channel_load: Fraction
    lower_bound: Fraction | None
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
    skipped: Any = None  # pairs that are left out, where the claim says so

    @property
    def witness(self) -> list[tuple[int, int, Fraction]]:
        """The traffic as rows of source, destination and amount, terminals by number."""
        if self.traffic is not None:
            return self.traffic
        return [(i, j, Fraction(1)) for i, j in enumerate(self.permutation or [])]


def read_claim(made: dict[str, Any]) -> Claim:
    """Take a saved claim apart.

    Raises
    ------
    MalformedError
        Naming the key that is missing or has the wrong form.
    """
    kind = _get(made, "kind", str)
    certificate = made.get("certificate")
    if not isinstance(certificate, dict):
        raise MalformedError(
            "it holds no certificate; make it with certificate=True, or keep it with  obliv worst ... --output FILE"
        )
    channel = made.get("channel")
    if not isinstance(channel, dict) or not all(_is_whole(channel.get(key)) for key in ("id", "tail", "head")):
        raise MalformedError("channel must hold id, tail and head")
    channels = _get(certificate, "channels", list)
    for entry in channels:
        if entry == "simple":
            continue
        if not (isinstance(entry, list) and len(entry) == 2 and _is_whole(entry[0]) and isinstance(entry[1], list)):
            raise MalformedError('an entry of channels is neither "simple" nor [dual, word]')
        if not all(_is_whole(step) for step in entry[1]):
            raise MalformedError("a word in channels holds something else than numbers of generators")
    traffic = made.get("traffic")
    denominator = _numbers(certificate, "denominator")
    if not isinstance(denominator, int) or denominator < 1:
        raise MalformedError("the denominator must be a positive whole number")
    return Claim(
        kind=kind,
        topology=_get(made, "topology", str),
        routing=_get(made, "routing", str),
        channel_load=_exact(made, "ratio" if kind == "ratio" else "channel_load", required=True) or Fraction(0),
        lower_bound=_exact(made, "lower_bound"),
        throughput=_exact(made, "throughput"),
        fraction_of_capacity=_exact(made, "fraction_of_capacity"),
        capacity=_exact(made, "capacity"),
        channel=channel,
        permutation=_permutation(made, certificate) if traffic is None else None,
        traffic=None if traffic is None else _traffic(traffic),
        denominator=denominator,
        duals=_vectors(certificate, "duals"),
        generators=_vectors(certificate, "generators"),
        channels=channels,
        sources=_get(certificate, "sources", dict),
        skipped=made.get("skipped"),
        digest_holds=certificate.get("digest") == digest_of(made),
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _get(made: dict[str, Any], key: str, kind: type) -> Any:
    if not isinstance(made.get(key), kind):
        raise MalformedError(f"{key} is missing or no {kind.__name__}")
    return made[key]


def _numbers(made: dict[str, Any], key: str) -> Any:
    if key not in made:
        raise MalformedError(f"{key} is missing")
    try:
        return unpack(made[key])
    except (ValueError, KeyError, TypeError, OverflowError, MemoryError, zlib.error, RecursionError) as error:
        raise MalformedError(f"{key} cannot be unpacked: {error}") from None


def _vectors(made: dict[str, Any], key: str) -> list[list[int]]:
    vectors = _numbers(made, key)
    if not isinstance(vectors, list) or any(
        not isinstance(vector, list) or any(not isinstance(x, int) for x in vector) for vector in vectors
    ):
        raise MalformedError(f"{key} must be a list of lists of whole numbers")
    return vectors


def _permutation(made: dict[str, Any], certificate: dict[str, Any]) -> list[int]:
    image = _numbers(made, "permutation")
    if not isinstance(image, list) or any(not isinstance(d, int) for d in image):
        raise MalformedError("permutation must be a list of whole numbers")
    if _numbers(certificate, "permutation") != image:
        raise MalformedError("the certificate's permutation is not the result's")
    return image


def _traffic(rows: Any) -> list[tuple[int, int, Fraction]]:
    try:
        found = [(s, d, rational(amount)) for s, d, amount in rows]
    except (TypeError, ValueError, ZeroDivisionError):
        raise MalformedError("traffic must be rows of [source, destination, amount]") from None
    if not all(_is_whole(s) and _is_whole(d) for s, d, _ in found):
        raise MalformedError("traffic must be rows of [source, destination, amount]")
    return found


def _exact(made: dict[str, Any], key: str, required: bool = False) -> Fraction | None:
    value = made.get(key)
    if value is None and not required:
        return None
    try:
        text, shown = value["exact"], value["value"]  # type: ignore[index]
        number = rational(text)
        fits = shown == number.numerator / number.denominator
    except (TypeError, KeyError, ValueError, OverflowError):
        raise MalformedError(f"{key} is no exact number") from None
    if not fits:
        raise MalformedError(f"{key} shows {shown} for {text}")
    return number
