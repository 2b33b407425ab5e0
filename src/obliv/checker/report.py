"""What a check found, step by step."""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from obliv.checker.claims import misstated_key
from obliv.results import Verification, provenance
from obliv.results.codec import Record
from obliv.results.verification import Check

__all__ = ["Report", "beside", "short"]

#: By kind, the keys of a claim that no check is about, besides how it was made (provenance, notes, reasons).
_BESIDE = {
    "worst": ("channel_names", "focus_channels", "names", "crossing", "hottest"),
    "worst-channels": (
        "network_classes",
        "routing_classes",
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
        self.beside: list[str] = []  #: Keys of this claim alone that are not part of its proof.
        self.began = time.perf_counter()

    def note(self, check: str, ok: bool | None, detail: str) -> bool:
        self.checks.append(Check(check, ok, detail))
        return ok is True

    def note_digest(self, fits: bool, otherwise: str = "does not fit the content") -> None:
        self.note("digest", fits, "SHA-256 of the file's content" if fits else otherwise)

    def note_sources(self, claimed: dict[str, str], read: Iterable[tuple[str, str]]) -> None:
        """Note for each file whether the specs read the one of the claim."""
        found = dict(read)
        for path in sorted(set(claimed) - set(found)):
            self.note("source file", False, f"{path} is listed, but the specs do not read it")
        for path, digest in found.items():
            same = claimed.get(path) == digest
            what = "has the SHA-256 of the claim" if same else "has changed since"
            self.note("source file", same, f"{path} {what if path in claimed else 'has no SHA-256 in the claim'}")

    def note_figures(self, *read: tuple[Record, dict[str, Any]]) -> bool:
        """Note a figure of the claim, or of a row of it, that does not follow from the others; return whether none."""
        misstated = next(filter(None, (misstated_key(record, content) for record, content in read)), "")
        if misstated:
            self.note("figures", False, f"{misstated} does not follow from the other figures")
        return not misstated

    @property
    def fails(self) -> bool:
        """Whether something does not hold, or was not checked."""
        return any(step.ok is not True for step in self.checks)

    @property
    def holds(self) -> bool:
        """Whether something was checked, and all of it holds."""
        return bool(self.checks) and not self.fails

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
