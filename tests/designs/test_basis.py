"""Rational solutions of the solver's basis: against elimination, and optima with odd denominators."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.strategies import examples

import obliv
from obliv._util.progress import Progress
from obliv.designs import exact as basis
from obliv.designs import search
from obliv.designs.exact import InexactError, solve_exactly
from obliv.designs.search import WorstCaseSearch


def eliminated(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve by Gauss's elimination over the rationals; None where the matrix is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r, row in enumerate(rows):
            if r != k and row[k]:
                rows[r] = [value - row[k] * own for value, own in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]


@examples(40)
@given(st.integers(0, 10**9))
def test_against_elimination(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    matrix = rng.integers(-4, 5, (size, size)) * (rng.random((size, size)) < 0.6)
    right = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 9, (size, 2))]
    solution = eliminated([[Fraction(int(x)) for x in row] for row in matrix], right)
    if solution is None:
        with pytest.raises(InexactError):
            solve_exactly(csr_array(matrix), right)
    else:
        solved = solve_exactly(csr_array(matrix), right)
        assert [solved.fraction(k) for k in range(size)] == solution


def test_denominators_of_a_thousand_bits() -> None:
    size = 500
    rng = np.random.default_rng(1)
    matrix = np.diag(rng.integers(2, 9, size)) + np.diag(np.ones(size - 1, np.int64), 1)
    matrix[-1, 0] = 1
    solved = solve_exactly(csr_array(matrix), [Fraction(1)] * size)
    assert solved.denominator.bit_length() > 1000
    values = [solved.fraction(k) for k in range(size)]
    for k in range(size):
        assert matrix[k, k] * values[k] + values[(k + 1) % size] == 1


@pytest.mark.parametrize(
    ("spec", "load", "hops"),
    [
        ("mesh:3x3,bandwidth=7/13x5/11", "1001/426", None),
        ("ring:5,bandwidth=17/19", "114/85", None),
    ],
)
def test_optima_are_exact(spec: str, load: str, hops: str | None) -> None:
    best = obliv.design(spec, exact=True)
    assert best.gap == 0
    assert not best.inexact
    assert best.hops == best.hops_bound
    assert hops is None or best.hops == Fraction(hops)
    assert load is None or best.channel_load == Fraction(load)
    assert obliv.verify(best).proved


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "load", "hops"),
    [
        ("mesh:3x3x2", "7/6", "6215/1944"),
        ("mesh:3x3x3", "53/45", "42608/10935"),
        ("mesh:6x5", "3", "319/90"),
        ("mesh:6x6", "3", "35/9"),
        ("mesh:7x5", "3", "302672/63945"),
        ("mesh:7x6", "3", "79789/14994"),
        ("mesh:7x7", "45/14", "3626304/621859"),
        ("mesh:4x3x3", "2", "3392931119/1068357276"),
    ],
)
def test_larger_optima_are_exact(spec: str, load: str, hops: str) -> None:
    best = obliv.design(spec, exact=True)
    assert best.gap == 0
    assert (best.channel_load, best.hops, best.hops_bound) == (Fraction(load), Fraction(hops), Fraction(hops))
    assert obliv.verify(best).proved


@pytest.mark.nightly
@pytest.mark.parametrize("k", [3, 5, 7, 9, 11, 13])
def test_fewest_hops_on_two_rows(k: int) -> None:
    best = obliv.design(f"mesh:{k}x2", exact=True)
    shortest = Fraction(k * k - 1, 3 * k) + Fraction(1, 2)
    assert best.hops == best.hops_bound == shortest + Fraction((k + 1) * (k + 3), 8 * k * k)
    assert (best.channel_load, best.gap) == (Fraction(k - 1, 2), 0)


@pytest.mark.nightly
@pytest.mark.parametrize("k", [5, 7, 9])
def test_fewest_hops_on_three_rows(k: int) -> None:
    best = obliv.design(f"mesh:{k}x3", exact=True)
    shortest = Fraction(k * k - 1, 3 * k) + Fraction(8, 9)
    assert best.hops == best.hops_bound == shortest + Fraction(2 * (k * k - 1) * (k + 3), 3 * k * k * (3 * k - 4))
    assert (best.channel_load, best.gap) == (Fraction(k - 1, 2), 0)


@pytest.mark.nightly
@pytest.mark.parametrize("spec", ["mesh:4x3", "mesh:6x4", "mesh:8x5", "mesh:10x9"])
def test_shortest_paths_suffice_where_the_longer_side_is_even(spec: str) -> None:
    mesh = obliv.topology(spec)
    assert obliv.worst_case(obliv.routing("o1turn", mesh)).channel_load == Fraction(max(mesh.radices), 2)


@pytest.mark.parametrize(("price", "proved"), [(16, True), (0.01, False)])
def test_one_program_for_load_and_hops(price: float, proved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CROSSOVER_ROWS", 0)
    monkeypatch.setattr(search, "_PRICE", price)
    proofs: list[bool] = []
    both = WorstCaseSearch.minimize_both

    def noted(self: WorstCaseSearch, progress: Progress) -> bool:
        proofs.append(both(self, progress))
        return proofs[-1]

    monkeypatch.setattr(WorstCaseSearch, "minimize_both", noted)
    best = obliv.design("mesh:3x3")
    assert proofs == [proved]
    assert (best.channel_load, best.hops, best.hops_bound) == (Fraction(7, 6), Fraction(64, 27), Fraction(64, 27))
    assert obliv.verify(best).proved


def test_what_is_not_exact_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(basis, "_MOST_BITS", 24)
    best = obliv.design("torus:4x4", exact=True)
    assert isinstance(best.channel_load, obliv.Bounds)
    assert "ill-conditioned" in best.inexact
    assert best.inexact in repr(best)
    assert obliv.verify(best).proved
    assert not obliv.design("torus:4x4", exact=False).inexact
