"""Matching and transportation against other solvers, with their duals checked: any shape, integers of any size."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog
from tests import strategies
from tests.oracles import paths as oracle

import obliv
from obliv.matching import Matching, Weights, from_entries

Matrix = Sequence[Sequence[int]]


def entries(matrix: Matrix, rng: random.Random | None = None) -> tuple[list[int], list[int], list[int]]:
    result = [(i, j, w) for i, row in enumerate(matrix) for j, w in enumerate(row) if w]
    if rng:
        rng.shuffle(result)
    return [e[0] for e in result], [e[1] for e in result], [e[2] for e in result]


def solve(matrix: Matrix, rng: random.Random | None = None) -> tuple[Weights, Matching]:
    row, col, weight = entries(matrix, rng)
    big = any(w >= 2**63 for w in weight)
    array = np.array(weight, dtype=object if big else np.int64)
    weights = from_entries(np.array(row, dtype=np.int64), np.array(col, dtype=np.int64), array)
    return weights, obliv.maximum_weight(weights)


def proved(
    matrix: Matrix, weights: Weights, answer: Matching, supply: Sequence[int] = (), demand: Sequence[int] = ()
) -> None:
    """The answer holds by itself: duals feasible everywhere, tight where used, zero where something is left.

    Rows and columns without entries are left out of the weights; `row_members` and `column_members` say which remain.
    """
    rows = [int(weights.row_members[1][i]) for i in range(weights.rows)]
    columns = [int(weights.column_members[1][j]) for j in range(weights.columns)]
    assert rows == [i for i, row in enumerate(matrix) if any(row)]
    assert sorted(columns) == [j for j in range(len(matrix[0])) if any(row[j] for row in matrix)]
    u, v = [int(x) for x in answer.u], [int(x) for x in answer.v]
    assert all(x >= 0 for x in (*u, *v))
    assert all(u[i] + v[j] >= matrix[r][c] for i, r in enumerate(rows) for j, c in enumerate(columns))
    out, into, total = [0] * len(rows), [0] * len(columns), 0
    for i, j, flow in zip(weights.row_of_entry, weights.col, map(int, answer.flow), strict=True):
        assert flow >= 0
        w = matrix[rows[i]][columns[j]]
        assert not flow or u[i] + v[j] == w, "not tight"
        out[i] += flow
        into[j] += flow
        total += flow * w
    assert total == answer.value
    for prices, sent, limits in ((u, out, supply or [1] * len(u)), (v, into, demand or [1] * len(v))):
        for price, x, limit in zip(prices, sent, limits, strict=True):
            assert x <= limit
            assert x == limit or price == 0


def by_another(matrix: Matrix) -> int:
    """Scipy where its floating point is exact, else Kuhn's algorithm in Python integers."""
    n, m = len(matrix), len(matrix[0])
    if max(map(max, matrix)) * max(n, m) >= 2**53:
        size = max(n, m)
        square = [[*row, *[0] * (size - m)] for row in matrix] + [[0] * size for _ in range(size - n)]
        return oracle.hungarian(square)
    array = np.array(matrix, dtype=np.int64)
    rows, columns = linear_sum_assignment(array, maximize=True)
    return int(array[rows, columns].sum())


def random_matrix(rng: random.Random, largest: int) -> list[list[int]]:
    """Every kind of nuisance: ties, zeros, blocks, empty rows, equal rows, huge against tiny, dominated entries."""
    n, m = rng.randint(1, largest), rng.randint(1, largest)
    kind = rng.randrange(8)
    density = rng.choice([0.05, 0.2, 0.5, 0.9, 1.0])
    top = rng.choice([1, 2, 3, 10, 1000, 2**40])
    matrix = [[rng.randint(0, top) if rng.random() < density else 0 for _ in range(m)] for _ in range(n)]
    if kind == 1:  # rank one: everything ties along exchanges
        a, b = [rng.randint(0, 9) for _ in range(n)], [rng.randint(0, 9) for _ in range(m)]
        matrix = [[x * y for y in b] for x in a]
    elif kind == 2:  # separable: all perfect matchings are equal
        a, b = [rng.randint(0, 9) for _ in range(n)], [rng.randint(0, 9) for _ in range(m)]
        matrix = [[x + y for y in b] for x in a]
    elif kind == 3:  # equal rows
        matrix = [list(rng.choice(matrix[: 1 + n // 3])) for _ in range(n)]
    elif kind == 4:  # a staircase, where greedy choices are wrong
        matrix = [[top + 1 if j <= i else 0 for j in range(m)] for i in range(n)]
        if rng.random() < 0.5:
            matrix = [[w + rng.randint(0, 1) if w else 0 for w in row] for row in matrix]
    elif kind == 5:  # some rows and columns worth nothing
        for i in rng.sample(range(n), n // 2):
            matrix[i] = [0] * m
    elif kind == 6:  # a chain: every row prefers its neighbour's column by one
        matrix = [[0] * m for _ in range(n)]
        for i in range(n):
            matrix[i][i % m] = top
            matrix[i][(i + 1) % m] = top + 1
    elif kind == 7:  # two scales
        matrix = [[w if rng.random() < 0.8 else w * 2**20 for w in row] for row in matrix]
    return matrix


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.nightly)])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run kernels in one way, whatever the work."""
    if request.param == "interpreted":
        monkeypatch.setattr("obliv.matching.solve.run", lambda function, work, *args: function.python(*args))
    else:
        monkeypatch.setattr("obliv.matching.solve.run", lambda function, work, *args: function.compiled()(*args))
    return str(request.param)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "block", [*range(4), *(pytest.param(block, marks=pytest.mark.nightly) for block in range(4, 10))]
)
def test_thousands_of_matrices(block: int, mode: str) -> None:
    rng = random.Random(block)
    for _ in range(400 if mode == "compiled" else 100):
        matrix = random_matrix(rng, rng.choice([3, 6, 12, 20]))
        weights, answer = solve(matrix, rng)
        assert answer.value == by_another(matrix), matrix
        proved(matrix, weights, answer)


def test_sparse_matrices(mode: str) -> None:
    rng = random.Random(5)
    size = 120 if mode == "compiled" else 25
    for largest in (2, 10, 10**9):
        matrix = [[rng.randrange(largest) if rng.random() < 0.3 else 0 for _ in range(size + 7)] for _ in range(size)]
        weights, answer = solve(matrix, rng)
        assert answer.value == by_another(matrix)
        proved(matrix, weights, answer)


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(20))
def test_larger_matrices(block: int) -> None:
    rng = random.Random(1000 + block)
    for _ in range(50):
        matrix = random_matrix(rng, 150)
        weights, answer = solve(matrix, rng)
        assert answer.value == by_another(matrix)
        proved(matrix, weights, answer)


@given(strategies.weight_matrices())
@strategies.examples(200)
def test_small_matrices_against_all_matchings(matrix: list[list[int]]) -> None:
    weights, answer = solve(matrix)
    assert answer.value == oracle.best_by_subsets(matrix)
    proved(matrix, weights, answer)


# Integers beyond 64 bits.


def big_entry(rng: random.Random, bits: int) -> int:
    """Numbers that agree in their leading digits, that differ in the last, or that are anything."""
    base = 2**bits
    return rng.choice(
        [0, base, base - 1, base + 1, base + rng.randint(0, 3), rng.randint(0, base), base // 3, rng.randint(0, 5), 1]
    )


def big_matrix(rng: random.Random, n: int, m: int, bits: int) -> list[list[int]]:
    matrix = [[big_entry(rng, bits) for _ in range(m)] for _ in range(n)]
    matrix[0][0] = max(matrix[0][0], 2**bits + 7)
    return matrix


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bits", [61, 62, 63, 64, 65, 80, 127, 128, 200, 1000])
def test_big_integers_against_all_matchings(bits: int, mode: str) -> None:
    rng = random.Random(bits)
    for _ in range(25):
        matrix = big_matrix(rng, rng.randint(1, 7), rng.randint(1, 7), bits)
        weights, answer = solve(matrix, rng)
        assert answer.value == oracle.best_by_subsets(matrix), matrix
        proved(matrix, weights, answer)


@pytest.mark.parametrize("bits", [64, 73, 200])
def test_big_integers_against_another_solver(bits: int) -> None:
    """Larger matrices against Kuhn's algorithm on Python integers."""
    rng = random.Random(-bits)
    for n in (10, 20, 30):
        matrix = big_matrix(rng, n, n, bits)
        weights, answer = solve(matrix, rng)
        assert answer.value == oracle.hungarian(matrix)
        proved(matrix, weights, answer)


@pytest.mark.parametrize("bits", [61, 62, 63, 64, 100, 200])
def test_differences_only_in_the_last_digit(bits: int) -> None:
    """Weights 2^bits + {0, 1}: a rounded solver sees ties only; the answer counts the ones exactly."""
    rng = random.Random(bits)
    for _ in range(20):
        n = rng.randint(2, 25)
        bit = [[rng.randint(0, 1) for _ in range(n)] for _ in range(n)]
        matrix = [[2**bits + b for b in row] for row in bit]
        weights, answer = solve(matrix, rng)
        assert answer.value == n * 2**bits + by_another(bit)
        proved(matrix, weights, answer)


@pytest.mark.parametrize("factor", [2**30, 2**61, 2**64, 10**25 - 1, 2**150])
def test_scaling_scales_the_answer(factor: int) -> None:
    rng = random.Random(factor)
    for _ in range(60):
        matrix = random_matrix(rng, 8)
        big = [[w * factor for w in row] for row in matrix]
        weights, answer = solve(big, rng)
        assert answer.value == by_another(matrix) * factor
        proved(big, weights, answer)


@pytest.mark.parametrize("top", [2**61, 2**62 - 1, 2**62, 2**63 - 1])
def test_sums_that_leave_64_bits(top: int) -> None:
    """Every weight fits in 64 bits, their sum does not."""
    rng = random.Random(top)
    for n in (2, 3, 5, 9, 40):
        matrix = [[top - rng.randint(0, 2) for _ in range(n)] for _ in range(n)]
        weights, answer = solve(matrix, rng)
        assert answer.value == oracle.hungarian(matrix)
        proved(matrix, weights, answer)


@given(st.integers(1, 6), st.integers(1, 6), st.data())
@strategies.examples(100)
def test_big_integers_that_shrink(n: int, m: int, data: st.DataObject) -> None:
    entry = st.sampled_from([0, 1, 2**62, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**200, 2**200 + 1, 3 * 2**199])
    matrix = [[data.draw(entry) for _ in range(m)] for _ in range(n)]
    weights, answer = solve(matrix)
    assert answer.value == oracle.best_by_subsets(matrix)
    proved(matrix, weights, answer)


# Transportation: supplies and demands.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.nightly) for block in range(1, 4))])
@pytest.mark.parametrize("bits", [0, 70, 100])
def test_transportation(block: int, bits: int, mode: str) -> None:
    """Against a linear program (small weights), and by its own duals (any)."""
    rng = random.Random(100 * bits + block)
    for _ in range(40):
        n, m = rng.randint(1, 6), rng.randint(1, 6)
        small = [[rng.choice([0, 1, 1, 2, 5, rng.randint(0, 100)]) for _ in range(m)] for _ in range(n)]
        if not any(map(any, small)):
            continue
        matrix = [[w << bits for w in row] for row in small]
        row, col, weight = entries(matrix, rng)
        array = np.array(weight, dtype=object if bits else np.int64)
        weights = from_entries(np.array(row), np.array(col), array)
        supply = [rng.randint(1, 9) for _ in range(weights.rows)]
        demand = [rng.randint(1, 9) for _ in range(weights.columns)]
        answer = obliv.maximum_weight(weights, np.array(supply), np.array(demand))
        proved(matrix, weights, answer, supply, demand)
        rows = [int(weights.row_members[1][i]) for i in range(weights.rows)]
        columns = [int(weights.column_members[1][j]) for j in range(weights.columns)]
        costs, limits = [], np.zeros((len(rows) + len(columns), len(rows) * len(columns)))
        for i, r in enumerate(rows):
            for j, c in enumerate(columns):
                limits[i, len(costs)] = limits[len(rows) + j, len(costs)] = 1
                costs.append(-small[r][c])
        best = linprog(costs, A_ub=limits, b_ub=[*supply, *demand], method="highs")
        assert answer.value == round(-best.fun) << bits


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("top", [2**40, 2**55, 2**60, 2**62, 2**63 - 1])
def test_transportation_of_huge_amounts(top: int) -> None:
    """Supplies near the end of 64 bits, whose sums leave it."""
    rng = random.Random(top)
    for _ in range(60):
        n, m = rng.randint(1, 6), rng.randint(1, 6)
        matrix = [[rng.choice([0, 1, 1, 2, 5, rng.randint(0, 100)]) for _ in range(m)] for _ in range(n)]
        matrix[0][0] = 3
        row, col, weight = entries(matrix, rng)
        weights = from_entries(np.array(row), np.array(col), np.array(weight))
        supply, demand = (
            [rng.choice([top, top - 1, top - rng.randint(0, 3), rng.randint(1, top)]) for _ in range(count)]
            for count in (weights.rows, weights.columns)
        )
        answer = obliv.maximum_weight(weights, np.array(supply), np.array(demand))
        proved(matrix, weights, answer, supply, demand)


def test_a_long_weight_decides_in_its_last_digit(mode: str) -> None:
    base = 10**60
    matrix = [[base, base + 1, 0], [base, base, 2], [0, base - 1, base]]
    weights, answer = solve(matrix)
    assert answer.value == 3 * base + 1
    proved(matrix, weights, answer)


def test_members_count_as_many(mode: str) -> None:
    matrix = [[3, 1, 1], [3, 1, 1], [2, 2, 2]]
    merged = Weights(
        np.array([0, 2, 4]),
        np.array([0, 1, 0, 1], np.int32),
        np.array([3, 1, 2, 2]),
        (np.array([0, 2, 3]), np.array([0, 1, 2])),
        (np.array([0, 1, 3]), np.array([0, 1, 2])),
    )
    assert obliv.maximum_weight(merged).value == solve(matrix)[1].value == 6
    spread = {(int(r), int(c)): int(w) for r, c, w in zip(*merged.spread(), strict=True)}
    assert spread == {(r, c): matrix[r][c] for r in range(3) for c in range(3)}


def test_nothing_to_match() -> None:
    empty = np.array([], dtype=np.int64)
    answer = obliv.maximum_weight(from_entries(empty, empty, empty))
    assert answer.value == 0
    assert (len(answer.u), len(answer.v), len(answer.flow)) == (0, 0, 0)


@pytest.mark.parametrize("kind", ["single", "row", "column"])
def test_thin_matrices(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(30):
        k = rng.randint(1, 30)
        values = [rng.randint(0, 9) for _ in range(k)]
        if kind == "single":
            values = values[:1]
        matrix = [values] if kind != "column" else [[w] for w in values]
        if not any(values):
            continue
        weights, answer = solve(matrix, rng)
        assert answer.value == max(values)
        proved(matrix, weights, answer)


@pytest.mark.parametrize("k", [5, 9, 13])
def test_real_channels(k: int) -> None:
    """Pair loads of ROMM, dense in ties, against scipy."""
    loads = obliv.routing("romm", obliv.torus(k, k)).pair_loads()
    for channel in (0, 1, 7):
        table = loads.on_channel(channel).toarray()
        answer = obliv.maximum_weight(loads.weights(channel))
        rows, columns = linear_sum_assignment(table, maximize=True)
        assert answer.value == int(table[rows, columns].sum())
        matrix = [[int(w) for w in row] for row in table]
        row, col, weight = entries(matrix)
        again = obliv.maximum_weight(from_entries(np.array(row), np.array(col), np.array(weight)))
        assert again.value == answer.value


@pytest.mark.nightly
@pytest.mark.parametrize("k", [33])
def test_a_large_real_channel(k: int) -> None:
    loads = obliv.routing("romm", obliv.torus(k, k)).pair_loads()
    table = loads.on_channel(0).toarray()
    rows, columns = linear_sum_assignment(table, maximize=True)
    assert obliv.maximum_weight(loads.weights(0)).value == int(table[rows, columns].sum())
