"""What a check found, step by step: figures of a claim, unknown keys, and whether the best routing is known."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from obliv._util.files import digest_of
from obliv._util.progress import OutOfTimeError
from obliv.errors import OblivError
from obliv.results.base import NO_CAPACITY, Provenance, provenance
from obliv.results.claims import MalformedError
from obliv.results.codec import Record
from obliv.results.markup import class_of, from_content
from obliv.results.numbers import Bounds, bounds_of
from obliv.results.study import Check, Verification
from obliv.topologies.base import Topology
from obliv.topologies.trees import Tree

OUT_OF_TIME = "time limit reached; raise the budget"
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
    "collisions": ("method", "sampled_mean", "distribution[*].sampled", "needed[*].tried"),
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

    def note_origin(self, content: dict[str, Any], claimed: dict[str, str], *read: Iterable[tuple[str, str]]) -> None:
        """Note whether the digest of a certificate fits, if there is one, and the files that specs read."""
        certificate = content.get("certificate")
        if isinstance(certificate, dict):
            self.note_digest(certificate.get("digest") == digest_of(content))
        self.note_sources(claimed, chain(*read))

    @contextmanager
    def noting(self, check: str, late: str = "") -> Iterator[None]:
        """Note under a name what the objects of a claim refuse, or that its time is over."""
        try:
            yield
        except OutOfTimeError:
            self.note(late or check, None, OUT_OF_TIME)
        except MalformedError:
            raise
        except (OblivError, NotImplementedError) as error:
            self.note(check, False, str(error))

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


def proves(lower: Fraction, upper: Fraction, claimed: Any) -> bool:
    """Return whether proved bounds are at least as good as the claimed ones; a number must be met from both sides."""
    if not isinstance(claimed, Fraction | Bounds):
        return False
    low, high = bounds_of(claimed)
    return bool(low <= lower and upper <= high)


def short(value: Fraction) -> str:
    """Return a number in full where it is short, else rounded and marked as such."""
    return str(value) if len(str(value)) <= 12 else f"≈ {float(value):.9g}"


# The figures of a claim, and keys that it should not have


_NO_CAPACITY_BEFORE = "no closed form of the capacity is known for this topology"  # what obliv 0.2.0 says
_MADE = {"provenance": Provenance().to_dict()}  # which claims inside others may lack


def read_result(content: dict[str, Any]) -> Any:
    """Return the result that a claim holds, of its kind."""
    try:
        return class_of(content).from_dict(content)
    except (ArithmeticError, AttributeError, KeyError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise MalformedError(str(error) or type(error).__name__) from None


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


# The check that the best routing of every traffic is known: its largest link load is that of a host's own link


def check_optimum(report: Report, topology: Topology) -> None:
    """Note whether no routing does better than a base load, and some routing reaches it for every traffic.

    The first holds where every host has one link each way. For the second a routing is built here, link by link: from
    each host equal splits over the links up, and down the same way backwards. It leads from every host to every other
    where all hosts of a sub-tree reach the same nodes of its top level, each in one way. Whatever is sent, a link then
    carries at most the sum of the shares of the hosts whose splits use it, times the base load.
    """
    ends = (np.bincount(side, minlength=topology.nodes)[topology.terminals] for side in (topology.tail, topology.head))
    if any((links != 1).any() for links in ends) or topology.bandwidth or not topology.unit_rates:
        report.note("optimum", False, "a host has more than one link, or a rate or bandwidth that is not 1")
        return
    if not isinstance(topology, Tree):
        report.note("optimum", False, "the network is not a fat tree")
        return
    problem = _climb(topology)
    report.note(
        "optimum", not problem, problem or "equal splits carry every traffic at its base load, which is the least"
    )


def _climb(tree: Tree) -> str:
    """Return what is wrong with the splits; empty if nothing is."""
    level = np.searchsorted(tree.first_node, np.arange(tree.nodes), side="right") - 1
    if (np.abs(level[tree.head] - level[tree.tail]) != 1).any():
        return "a link joins nodes that are not of neighboring levels"
    back = np.lexsort((tree.tail, tree.head))  # a link and its way back have the same place in both orders
    there = np.lexsort((tree.head, tree.tail))
    if not (np.array_equal(tree.tail[there], tree.head[back]) and np.array_equal(tree.head[there], tree.tail[back])):
        return "a link has no reverse link"
    host = np.sort(tree.terminals).astype(np.int64)
    if not np.array_equal(host, np.arange(tree.below[-1])):
        return "not every host sends"
    at = host[:, None]
    up_first = np.array([tree.first_channel[v] for v in range(tree.nodes)])
    for h in range(tree.levels):
        shares = at.shape[1] * tree.parents[h]
        down = tree.children[h - 1] if h else 0
        channel = (up_first[at][..., None] + down + np.arange(tree.parents[h])).reshape(len(host), -1)
        if (level[tree.tail[channel]] != h).any() or (level[tree.head[channel]] != h + 1).any():
            return f"a node of level {h} has other links up than the form of its sub-tree requires"
        most = int(np.bincount(channel.ravel()).max())
        if most > shares:
            return f"equal splits may load a link by {most}/{shares}"
        at = np.sort(tree.head[channel].astype(np.int64), axis=1)
        if (np.diff(at, axis=1) == 0).any():
            return f"two ways up lead to one node of level {h + 1}"
        groups = at.reshape(-1, tree.below[h + 1], at.shape[1])
        if not (groups == groups[:, :1]).all():
            return f"hosts of a sub-tree reach different nodes of level {h + 1}"
    return ""
