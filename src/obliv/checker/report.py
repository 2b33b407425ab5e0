"""What a check found, step by step."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from obliv.results import Verification, provenance
from obliv.results.verification import Check

__all__ = ["Report", "beside", "short"]

#: By kind, the keys of a claim that no check is about, besides how it was made (provenance, notes, reasons).
_BESIDE = {
    "worst": ("channel_names", "focus_channels", "names", "crossing", "hottest"),
    "worst-channels": (
        "network_classes",
        "routing_classes",
        "channels[*].channel_load",  # the largest is checked
        "channels[*].focus",
        "places",
    ),
    "ratio": ("channel_names",),
    "design": ("inexact", "average_load", "average_throughput", "average_fraction_of_capacity", "samples"),
    "failures": ("orbits",),
    "lottery": ("method", "sampled_mean", "distribution[*].sampled", "needed[*].tried"),
}


def beside(content: dict[str, Any]) -> tuple[str, ...]:
    """Return the keys that a saved claim has and that no check is about; ``[*]`` stands for every row of a list."""
    return tuple(key for key in _BESIDE.get(content.get("kind", ""), ()) if _stands(key, content))


def _stands(key: str, content: dict[str, Any]) -> bool:
    name, _, inner = key.partition("[*].")
    rows = content.get(name)
    if not inner:
        return rows is not None
    return isinstance(rows, list) and any(isinstance(row, dict) and inner in row for row in rows)


class Report:
    """What was checked, in order, and since when."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.beside: list[
            str
        ] = []  #: Keys of this claim that are not part of its proof, though others of its kind are.
        self.began = time.perf_counter()

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append(Check(check, ok, detail))
        return ok is True

    def note_digest(self, fits: bool, otherwise: str = "does not fit the content") -> None:
        self.note("digest", fits, "SHA-256 of the file's content" if fits else otherwise)

    @property
    def holds(self) -> bool:
        return all(step.ok is True for step in self.checks)

    def verification(
        self,
        claim: str,
        topology: str,
        routing: str,
        sources: tuple[tuple[str, str], ...] = (),
        unchecked: Iterable[int] = (),
    ) -> Verification:
        """Return the result: whether the claim is proved, and the channels that were not checked."""
        specs = {"topology": topology, "routing": routing}
        return Verification(
            topology=topology,
            routing=routing,
            provenance=provenance(specs, time.perf_counter() - self.began, sources=sources),
            proved=self.holds,
            claim=claim,
            checks=tuple(self.checks),
            unchecked=tuple(unchecked),
            beside=tuple(self.beside),
        )


def short(value: Fraction) -> str:
    """Return a number in full where it is short, else rounded and marked as such."""
    return str(value) if len(str(value)) <= 12 else f"≈ {float(value):.9g}"
