"""Calls of functions of one problem, made when their results are needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Call", "Calls"]

#: A function with its arguments, after the problem that it is about.
Call = tuple[Any, ...]


class Calls:
    """Calls of functions of one problem, made when their results are needed.

    Attributes
    ----------
    subject : object
        The first argument of all functions.
    width : int
        How many calls may be made at a time.
    """

    def __init__(self, subject: Any) -> None:
        self.subject = subject
        self.width = 1

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *error: object) -> None:
        """End calls whose results are no longer needed."""

    def memory(self, one: float) -> float:
        """Return the bytes that all calls together take, if each takes so many, and make no more at a time than fit."""
        return one

    def begin(self) -> None:
        """Make calls ahead from the first one on: there is much work."""

    def plan(self, calls: Iterable[Call]) -> None:
        """Say which calls will probably be made next, each a function and its arguments, the most likely first."""

    def result(self, function: Any, *arguments: Any) -> Any:
        """Return the result of a function, whose other arguments follow the subject."""
        return function(self.subject, *arguments)
