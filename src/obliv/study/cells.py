"""A cell of a study: one measure of one routing on one topology, with the key under which its result is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from obliv.study.measures import MEASURES, Measure

__all__ = ["Cell"]


@dataclass(frozen=True)
class Cell:
    """One measure of one routing on one topology.

    Parameters
    ----------
    topology : str
        Spec of the topology.
    routing : str, optional
        Spec of the routing; None for a measure of the topology alone.
    measure : str
    options : dict
        Those that the file sets.
    seed : int, optional
        None for a measure without chance.
    files : tuple of (path, SHA-256)
        The files that the specs name, and the Python files that register them.

    Examples
    --------
    >>> cell = Cell("mesh:4x4", "dor", "worst")
    >>> cell.key == Cell("mesh:4x4", "dor", "worst").key, cell.key == Cell("mesh:4x4", "dor", "hops").key
    (True, False)
    """

    topology: str
    routing: str | None
    measure: str
    options: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    files: tuple[tuple[str, str], ...] = ()

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def method(self) -> Measure:
        """The measure behind the name."""
        return MEASURES[self.measure]

    @cached_property
    def identity(self) -> str:
        """What is computed, as canonical JSON, whatever is in the files."""
        return json.dumps(
            [self.topology, self.routing, self.measure, self.options, self.seed], sort_keys=True, ensure_ascii=True
        )

    @cached_property
    def key(self) -> str:
        """SHA-256 of what determines the result: the specs, the options, the files, the version of the method."""
        files = sorted(self.files)
        text = json.dumps([self.identity, self.method.version, files], ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def __str__(self) -> str:
        where = f"{self.routing} on {self.topology}" if self.routing is not None else self.topology
        options: Mapping[str, Any] = self.options | ({} if self.seed in (None, 0) else {"seed": self.seed})
        more = "".join(f" {name}={value}" for name, value in options.items())
        return f"{self.measure}{more}: {where}"
