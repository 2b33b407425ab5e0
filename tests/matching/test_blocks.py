"""Transport between blocks against the transport between all rows and columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliv.matching.solve import Blocks, from_entries, gains, maximum_weight, maximum_weight_of_blocks


@st.composite
def blocks(draw: st.DrawFn) -> Blocks:
    many, high, wide_many, wide = (draw(st.integers(1, 4)) for _ in range(4))
    kinds = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = random.integers(0, draw(st.sampled_from([3, 20])), (kinds, high, wide))
    constant = random.random(kinds) < 0.7
    values[constant] = values[constant][:, :1, :1]
    most = draw(st.sampled_from([1, 3]))
    return Blocks(
        random.integers(0, kinds, (many, wide_many)),
        values,
        random.integers(1, most + 1, (many, high)),
        random.integers(1, most + 1, (wide_many, wide)),
    )


def dense(case: Blocks) -> np.ndarray:
    """Return the weights between all rows and columns."""
    (many, high), (wide_many, wide) = case.supply.shape, case.demand.shape
    return case.values[case.kind].transpose(0, 2, 1, 3).reshape(many * high, wide_many * wide)


@pytest.mark.sampled(2)
@given(blocks())
def test_hubs_change_neither_the_optimum_nor_its_proof(case: Blocks) -> None:
    weight, supply, demand = dense(case), case.supply.ravel(), case.demand.ravel()
    row, col = np.nonzero(weight)
    plain = from_entries(row, col, weight[row, col])
    best = maximum_weight(plain, supply[plain.row_members[1]], demand[plain.column_members[1]])
    for shift in (0, 70):  # beyond 64 bits
        wide = case._replace(values=case.values.astype(object) << shift) if shift else case
        found = maximum_weight_of_blocks(wide)
        assert found.value == best.value << shift
        prices = found.prices.ravel().astype(object)
        gain = np.maximum(((weight.astype(object) << shift) - prices).max(axis=1), 0)
        assert (prices >= 0).all()
        assert np.array_equal(gains(wide, found.prices).ravel(), gain)
        assert (supply * gain).sum() + (demand * prices).sum() == found.value
        rows, columns, amount = found.flow()
        assert (np.bincount(rows, amount, len(supply)) <= supply).all()
        assert (np.bincount(columns, amount, len(demand)) <= demand).all()
        assert (weight[rows, columns] * amount).sum() == best.value


def test_few_entries_stand_for_large_blocks() -> None:
    ones = np.ones((9, 50), np.int64)
    case = Blocks(np.zeros((9, 9), np.int64), np.full((1, 50, 50), 2), ones, ones)
    assert case.entries() == 81
    assert maximum_weight_of_blocks(case).value == 900
