"""Phases of collectives: run on sets of data, they do what the collective is for."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.mistakes import mistake

from obliv.fabric.jobs.collectives import PATTERNS, MessagePhase, Pattern, pattern_of

RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 21)


def phases_of(spec: str, ranks: int) -> list[MessagePhase]:
    return list(pattern_of(spec, np.arange(ranks)).phases)


def pairs(phase: MessagePhase) -> list[tuple[int, int]]:
    source, destination, amount = phase.messages()
    assert amount.max(initial=0) in (0, phase.unit)
    return list(zip(source.tolist(), destination.tolist(), strict=True))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("spec", PATTERNS)
def test_every_rank_sends_and_takes_once_a_phase(spec: str, ranks: int) -> None:
    for phase in phases_of(spec, ranks):
        sent, taken = zip(*pairs(phase), strict=True)
        assert len(set(sent)) == len(sent)
        assert len(set(taken)) == len(taken)
        assert all(s != d and 0 <= s < ranks and 0 <= d < ranks for s, d in pairs(phase))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    "spec", ["ring", "recursive-doubling", "rabenseifner", "recursive-halving", "binomial", "bruck", "hierarchical"]
)
def test_everyone_learns_of_everyone(spec: str, ranks: int) -> None:
    """After the phases, what a rank may know contains what its result needs."""
    known = [{rank} for rank in range(ranks)]
    for phase in phases_of(spec, ranks):
        for _ in range(phase.times):
            before = [set(some) for some in known]
            for s, d in pairs(phase):
                known[d] |= before[s]
    needed = {0} if spec == "binomial" else set(range(ranks))
    assert all(some >= needed for some in known)


@pytest.mark.parametrize("ranks", RANKS[1:])
def test_sizes_by_what_is_sent(ranks: int) -> None:
    """Bruck moves every piece bit by bit; the others send what bandwidth-optimal collectives must."""
    moved: Counter[int] = Counter()
    for phase in phases_of("bruck", ranks):
        step = int(phase.name.split()[1])
        moved[step] = sum(1 for distance in range(ranks) if distance & step)
        assert phase.size == Fraction(moved[step], ranks)
    assert sum(step * count for step, count in moved.items()) == ranks * (ranks - 1) // 2
    direct = phases_of("alltoall", ranks)
    assert Counter(pair for phase in direct for pair in pairs(phase)) == {
        (s, d): 1 for s in range(ranks) for d in range(ranks) if s != d
    }
    assert sum(phase.weight for phase in direct) == Fraction(ranks - 1, ranks)
    best = 2 * Fraction(ranks - 1, ranks)
    assert sum(phase.weight for phase in phases_of("ring", ranks)) == best
    if ranks & (ranks - 1) == 0:
        assert sum(phase.weight for phase in phases_of("rabenseifner", ranks)) == best
        assert sum(phase.weight for phase in phases_of("recursive-halving", ranks)) == best / 2


def test_hierarchical_is_within_hosts_and_then_by_rail() -> None:
    host_of = np.array([0, 0, 0, 2, 2, 2, 1, 1, 1, 5, 5, 5])
    inside, between, again = pattern_of("hierarchical", host_of).phases
    assert all(host_of[s] == host_of[d] for phase in (inside, again) for s, d in pairs(phase))
    assert all(host_of[s] != host_of[d] and s % 3 == d % 3 for s, d in pairs(between))
    assert between.weight == Fraction(1, 3) * 2 * Fraction(3, 4)
    assert "1 to 3 ranks" in mistake(lambda: pattern_of("hierarchical", np.array([0, 0, 0, 1])))


@pytest.mark.parametrize(
    "spec", ["stencil2d:2x3", "stencil2d:3x2,periodic", "stencil3d:3x1x2", "stencil3d", "stencil2d,periodic"]
)
def test_stencils_by_coordinates(spec: str) -> None:
    spec = spec.replace("d,", "d:")
    shape = [int(side) for side in spec.partition(":")[2].partition(",")[0].split("x") if side.isdigit()] or (
        [1, 2, 3] if "3d" in spec else [2, 3]
    )
    at = {tuple(int(x) for x in place[::-1]): rank for rank, place in enumerate(np.ndindex(*shape[::-1]))}
    right = []
    for axis, side in enumerate(shape):
        for step in (1, -1):
            some = set()
            for place, rank in at.items():
                other = list(place)
                other[axis] += step
                if "periodic" in spec and side > 1:
                    other[axis] %= side
                if tuple(other) in at:
                    some.add((rank, at[tuple(other)]))
            right.append(some)
    assert [set(pairs(phase)) for phase in phases_of(spec, 6)] == [some for some in right if some]


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("rign", "did you mean ring?"),
        ("ring:3", "has no parameters"),
        ("stencil2d:3x3", "9 ranks, the job has 8: try 2x4"),
        ("stencil2d:8", "write 2 sides"),
        ("stencil2d:2x-4", "write 2 sides"),
        ("stencil2d:2x4,wrapped", "'wrapped' is unknown"),
        ("file", "name the file of the phases"),
        ("file:nowhere.txt", "file not found"),
        ("", "unknown job pattern"),
    ],
)
def test_mistakes_in_patterns(spec: str, part: str) -> None:
    assert part in mistake(lambda: phases_of(spec, 8))


def of_file(folder: Path, text: str) -> Pattern:
    path = folder / "phases.txt"
    path.write_text(text)
    return pattern_of(f"file:{path}", np.arange(4))


def test_phases_of_a_file(tmp_path: Path) -> None:
    pattern = of_file(
        tmp_path, "# two\n0 1\n1 0 1/2\nphase back and forth times=3\n2,3,2\n3 2 1/3 # small\n2 3\nphase\n"
    )
    first, second, empty = pattern.phases
    assert (first.name, first.times, first.size, first.unit) == ("phase 1", 1, 1, 2)
    assert first.messages()[2].tolist() == [2, 1]
    assert (second.name, second.times, second.size, second.unit) == ("back and forth", 3, 3, 9)
    assert [side.tolist() for side in second.messages()] == [[2, 3], [3, 2], [9, 1]]
    assert not len(empty.messages()[0])
    assert dict(pattern.sources).keys() == {str(tmp_path / "phases.txt")}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0 4\n", ":1: '4' is not a rank of the job: its ranks are 0 to 3"),
        ("0 1\n\n2\n", ":3: a line has source rank"),
        ("0 1 2 3\n", "a line has source rank"),
        ("1 1\n", "rank 1 sends to itself"),
        ("0 1 0\n", "'0' is not a size"),
        ("0 1 -1\n", "is not a size"),
        ("0 1 nan\n", "is not a size"),
        ("phase a times=0\n0 1", "times=0"),
        ("phase a times=x\n0 1", "times=x"),
        ("phase a\n", "holds no messages"),
        ("0 1 1/3000000001\n1 2 1/4000000007\n0 2 1/99999999977", "too fine for 64 bits"),
    ],
)
def test_mistakes_in_phases(tmp_path: Path, text: str, part: str) -> None:
    assert part in mistake(lambda: of_file(tmp_path, text))
