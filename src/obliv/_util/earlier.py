"""Definitions that changed after obliv 0.2.0: its claims are checked by those that it had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["VERSIONS", "as_before", "earlier_definitions"]

#: The versions that had them. Files of today's code say 0.2.0 until the next release, so today's are tried first.
VERSIONS = ("0.1.0", "0.1.1", "0.2.0")

_ASKED: ContextVar[dict[str, None] | None] = ContextVar("asked", default=None)


def as_before(definition: str) -> bool:
    """Return whether a definition, in words, is to be used in place of today's.

    Examples
    --------
    >>> as_before("a mile has 8 furlongs")
    False
    >>> with earlier_definitions() as asked:
    ...     as_before("a mile has 8 furlongs"), list(asked)
    (True, ['a mile has 8 furlongs'])
    """
    asked = _ASKED.get()
    if asked is None:
        return False
    asked[definition] = None
    return True


@contextmanager
def earlier_definitions() -> Iterator[dict[str, None]]:
    """Use the definitions of obliv 0.2.0 inside a ``with`` statement, and collect those that are asked for."""
    asked: dict[str, None] = {}
    before = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(before)
