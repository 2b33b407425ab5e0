"""Every number, word and truth of every kind of claim: changed alone it is refused, or `verify` says that it is beside.

So are lists that are emptied or doubled, keys that are dropped, and keys that no such claim has.

A leaf of the evidence (the certificate, the moves) may also be changed into other evidence that proves the same; then
the checker reads it, and nonsense in its place is refused.
"""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.checker.leaves import CLAIMS, Trail, at, changed, changes, content_of, leaves, shapes

import obliv
from obliv._util.files import write_json
from obliv.checker.report import beside

#: What proves a claim, or is the routing or the traffic that it is about.
EVIDENCE = {
    "certificate",
    "paths",
    "instance",
    "moves",
    "plan",
    "permutation",
    "matching_permutation",
    "half",
    "traffic",
}
#: What says how a claim was made.
LABELS = {"provenance", "notes", "verified", "digest"}
#: Figures that a claim may leave out.
OPTIONAL = {"needed", "rated", "overload"}
#: Of which some changes give another true statement.
ONE_SIDED = {"quantiles[*].probability", "needed[*].load", "needed[*].probability", "needed[*].enough", "hops_bound"}


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Check thousands of claims without a process for each; files are those of this folder."""

    def work_here(work: Any, claim: Any, options: Any, **how: Any) -> Any:
        return work(claim, options, how["progress"])

    monkeypatch.setattr(importlib.import_module("obliv.checker.verify"), "bounded", work_here)
    monkeypatch.chdir(tmp_path)


def name_of(trail: Trail) -> str:
    """A leaf as `verify` names it."""
    return "".join("[*]" if isinstance(key, int) else f".{key}" for key in trail).lstrip(".")


def is_label(trail: Trail) -> bool:
    return any(key in LABELS for key in trail)


def is_evidence(trail: Trail) -> bool:
    return any(key in EVIDENCE for key in trail if isinstance(key, str))


def is_beside(trail: Trail, keys: tuple[str, ...]) -> bool:
    name = name_of(trail)
    return any(name == key or name.startswith((f"{key}.", f"{key}[")) for key in keys)


def is_beside_inside(content: Any, trail: Trail) -> bool:
    """Whether a leaf is beside the proof of a claim inside the certificate."""
    inner = ((trail[k:], at(content, trail[:k])) for k in range(1, len(trail)))
    return any(isinstance(claim, dict) and "kind" in claim and is_beside(rest, beside(claim)) for rest, claim in inner)


def verdict(content: Any) -> obliv.results.Verification | None:
    """What `verify` finds; None where the form is refused, in one line."""
    write_json(content, Path("forged.json"))
    try:
        return obliv.verify("forged.json")
    except obliv.OblivError as error:
        assert "\n" not in str(error)
        assert "internal" not in str(error)
        return None


def is_believed(content: Any, trail: Trail, value: Any) -> bool:
    """Whether a claim is proved with another value, and nothing says that the value is beside the proof."""
    checked = verdict(changed(content, trail, value))
    return checked is not None and checked.proved and not is_beside(trail, checked.beside)


def is_proved_anyway(content: Any, trail: Trail) -> bool:
    """Whether a leaf can be changed without a word of the checker."""
    values = list(changes(at(content, trail)))
    if is_evidence(trail):
        return (
            at(content, trail) is not None
            and any(is_believed(content, trail, value) for value in values)
            and is_believed(content, trail, {"a": "b"})
            and not is_beside_inside(content, trail)
        )
    believed = (is_believed(content, trail, value) for value in values)
    return all(believed) if name_of(trail) in ONE_SIDED else any(believed)


def check_leaves(kind: str, few: int) -> None:
    """Change up to so many leaves of each name of a claim."""
    content = content_of(CLAIMS[kind]())
    checked = verdict(content)
    assert checked is not None
    assert checked.proved, checked
    tried: Counter[str] = Counter()
    unread = set()
    for trail in leaves(content):
        name = name_of(trail)
        tried[name] += 1
        if not is_label(trail) and tried[name] <= few and is_proved_anyway(content, trail):
            unread.add(name)
    assert not unread, unread


@pytest.mark.parametrize("kind", CLAIMS)
def test_every_leaf_is_checked_or_listed(kind: str) -> None:
    check_leaves(kind, 1)


def check_shapes(kind: str, few: int) -> None:
    """Empty and double the lists of a claim outside its evidence, drop its keys, and add one to its objects."""
    content = content_of(CLAIMS[kind]())
    beside = obliv.verify("claim.json").beside
    believed = set()
    for trail, forged in shapes(content, few):
        if is_label(trail) or is_evidence(trail[:-1]) or is_beside(trail, beside):
            continue
        known = trail[-1] == "best" or at(content, trail) is not None or trail[-1] not in content
        harmless = not known or str(trail[-1]) in OPTIONAL or str(trail[-1]).endswith("_reason")
        checked = None if harmless else verdict(forged)
        if checked is not None and checked.proved and not is_beside(trail, checked.beside):
            believed.add(name_of(trail))
    assert not believed, believed


@pytest.mark.parametrize("kind", CLAIMS)
def test_no_other_shape_is_proved(kind: str) -> None:
    check_shapes(kind, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", CLAIMS)
def test_really_every_leaf(kind: str) -> None:
    check_leaves(kind, 10**9)


def test_what_is_listed_stands_in_the_claim() -> None:
    content = content_of(CLAIMS["fabric worst"]())
    checked = verdict(content)
    assert checked is not None
    assert set(checked.beside) <= content.keys()
    assert "hottest" in checked.beside
    assert f"not part of the proof: {', '.join(checked.beside)}" in repr(checked)
