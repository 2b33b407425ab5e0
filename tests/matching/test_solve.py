"""The solver against independent ones, in every mode of its kernels."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from obliv import kernels
from obliv.matching import Matching, Weights, from_entries, maximum_weight


def weights_of(table: Any) -> Weights:
    table = np.asarray(table)
    row, col = np.nonzero(table)
    return from_entries(row, col, table[row, col])


def certified(weights: Weights, found: Matching, supply: Any = None, demand: Any = None) -> None:
    """Feasible duals, tight where used, at zero where something is left: no other proof is needed."""
    supply = np.ones(weights.rows, int) if supply is None else supply
    demand = np.ones(weights.columns, int) if demand is None else demand
    row = weights.row_of_entry
    for r, c, w, x in zip(row, weights.col, weights.weight, found.flow, strict=True):
        assert int(found.u[r]) + int(found.v[c]) >= int(w)
        if x:
            assert int(found.u[r]) + int(found.v[c]) == int(w)
    sent = np.bincount(row, found.flow, minlength=weights.rows)
    taken = np.bincount(weights.col, found.flow, minlength=weights.columns)
    for dual, used, most in ((found.u, sent, supply), (found.v, taken, demand)):
        for price, x, limit in zip(dual, used, most, strict=True):
            assert price >= 0
            assert x <= limit
            assert x == limit or price == 0
    total = sum(int(w) * int(x) for w, x in zip(weights.weight, found.flow, strict=True))
    assert found.value == total


@pytest.fixture(params=["interpreted", "compiled"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "interpreted":
        monkeypatch.setattr(kernels, "run", lambda function, work, *args: function.python(*args))
        monkeypatch.setattr("obliv.matching.solve.run", lambda function, work, *args: function.python(*args))
    else:
        monkeypatch.setattr("obliv.matching.solve.run", lambda function, work, *args: function.compiled()(*args))
    return str(request.param)


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_scipy_on_ties_and_zeros(seed: int, mode: str) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(700 if mode == "compiled" else 100):
        shape = rng.integers(1, 14, 2)
        table = rng.integers(0, rng.choice([2, 3, 10, 10**6, 2**40]), shape) * (rng.random(shape) < rng.random())
        weights = weights_of(table)
        found = maximum_weight(weights)
        rows, cols = linear_sum_assignment(table, maximize=True)
        assert found.value == int(table[rows, cols].sum())
        certified(weights, found)


def test_larger_ones(mode: str) -> None:
    rng = np.random.default_rng(5)
    size = 120 if mode == "compiled" else 25
    for largest in (2, 10, 10**9):
        table = rng.integers(0, largest, (size, size + 7)) * (rng.random((size, size + 7)) < 0.3)
        weights = weights_of(table)
        found = maximum_weight(weights)
        rows, cols = linear_sum_assignment(table, maximize=True)
        assert found.value == int(table[rows, cols].sum())
        certified(weights, found)


def test_weights_of_any_size(mode: str) -> None:
    rng = np.random.default_rng(6)
    for bits in (63, 64, 100, 200, 1000):
        for _ in range(20):
            n, m = rng.integers(1, 6, 2).tolist()
            scale = int.from_bytes(rng.bytes(bits // 8), "big")
            table = np.array(
                [[int(rng.integers(0, 4)) * scale + int(rng.integers(0, 2**40)) for _ in range(m)] for _ in range(n)],
                object,
            )
            weights = weights_of(table)
            found = maximum_weight(weights)
            certified(weights, found)
            wide = table if n <= m else table.T
            best = max(
                sum(int(wide[i, p[i]]) for i in range(min(n, m))) for p in permutations(range(max(n, m)), min(n, m))
            )
            assert found.value == best


def test_a_long_weight_decides_in_its_last_digit(mode: str) -> None:
    base = 10**60
    table = np.array([[base, base + 1, 0], [base, base, 2], [0, base - 1, base]], object)
    assert maximum_weight(weights_of(table)).value == 3 * base + 1


def test_transportation_equals_a_linear_programme(mode: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        n, m = rng.integers(1, 7, 2)
        table = rng.integers(0, rng.choice([3, 100]), (n, m)) * (rng.random((n, m)) < 0.7)
        weights = weights_of(table)
        supply, demand = rng.integers(1, 6, weights.rows), rng.integers(1, 6, weights.columns)
        found = maximum_weight(weights, supply, demand)
        certified(weights, found, supply, demand)
        if not len(weights.weight):
            continue
        row = weights.row_of_entry
        limits = np.zeros((weights.rows + weights.columns, len(row)))
        limits[row, np.arange(len(row))] = 1
        limits[weights.rows + weights.col, np.arange(len(row))] = 1
        best = linprog(-weights.weight.astype(float), limits, np.concatenate([supply, demand]))
        assert abs(found.value + best.fun) < 1e-6
        big = Weights(
            weights.ptr,
            weights.col,
            weights.weight.astype(object) * 10**30,
            weights.row_members,
            weights.column_members,
        )
        assert maximum_weight(big, supply, demand).value == found.value * 10**30


def test_members_count_as_many(mode: str) -> None:
    single = weights_of([[3, 1, 1], [3, 1, 1], [2, 2, 2]])
    merged = Weights(
        np.array([0, 2, 4]),
        np.array([0, 1, 0, 1], np.int32),
        np.array([3, 1, 2, 2]),
        (np.array([0, 2, 3]), np.array([0, 1, 2])),
        (np.array([0, 1, 3]), np.array([0, 1, 2])),
    )
    assert maximum_weight(merged).value == maximum_weight(single).value == 6
    spread = {(int(r), int(c)): int(w) for r, c, w in zip(*merged.spread(), strict=True)}
    assert spread == {(r, c): [[3, 1, 1], [3, 1, 1], [2, 2, 2]][r][c] for r in range(3) for c in range(3)}


def test_nothing_to_match() -> None:
    assert maximum_weight(weights_of(np.zeros((3, 3), int))).value == 0


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=5), st.integers(1, 10**25))
@settings(max_examples=150)
def test_scaling_the_weights_scales_the_optimum(table: list[list[int]], factor: int) -> None:
    plain = maximum_weight(weights_of(table))
    scaled = maximum_weight(weights_of(np.array(table, object) * factor))
    assert scaled.value == factor * plain.value


@given(st.data())
@settings(max_examples=100)
def test_no_doubly_substochastic_matrix_beats_the_matching(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    table = data.draw(st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n))
    value = maximum_weight(weights_of(table)).value
    shares = data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
    orders = [data.draw(st.permutations(range(n))) for _ in shares]
    total = max(1, sum(shares))
    load = sum(
        Fraction(share, total) * sum(table[i][p[i]] for i in range(n)) for share, p in zip(shares, orders, strict=True)
    )
    assert load <= value
