"""Claims changed by hand, with digests that fit them, as a forger would write them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import obliv
from obliv._util.files import digest_of, unpack, write_json
from obliv.specs import untrusted


def save_claim(content: dict[str, Any], path: Path, digest: bool = True) -> Path:
    """Write a claim, with its digest computed again unless it is to stay."""
    if digest:
        content["certificate"]["digest"] = digest_of(content)
    write_json(content, path)
    return path


def refused(content: dict[str, Any], path: Path, digest: bool = True) -> bool:
    """Write a claim; return whether it is refused, by a check or, with one line, when it is read."""
    try:
        return not obliv.verify(save_claim(content, path, digest)).proved
    except obliv.InputError as error:
        assert "\n" not in str(error)
        return True


def reasons(content: dict[str, Any], path: Path, digest: bool = True, **options: Any) -> list[str]:
    """Write a claim; return why it is refused: the line of the error, or the details of the checks that do not hold.

    It is checked in this process, without limits of time, memory and files, which takes less time.
    """
    before = untrusted._within.set(True)
    try:
        checks = obliv.verify(save_claim(content, path, digest), **options).checks
    except obliv.InputError as error:
        assert "\n" not in str(error)
        return [str(error)]
    finally:
        untrusted._within.reset(before)
    return [step.detail for step in checks if step.ok is not True]


def change(*places: Any, to: Any) -> Callable[[Any], None]:
    """Return a change of a claim in one place: to another value, or to what a function makes of the value there."""

    def apply(content: Any) -> None:
        for place in places[:-1]:
            content = content[place]
        last = places[-1]
        if callable(to):
            before = content[last]
            content[last] = to(unpack(before) if isinstance(before, dict) and "b64zlib" in before else before)
        else:
            content[last] = to

    return apply


def exact(value: Fraction | str) -> dict[str, Any]:
    """Return a rational number as claims have it."""
    number = Fraction(value)
    return {"exact": str(number), "value": number.numerator / number.denominator}
