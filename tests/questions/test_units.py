"""Units: packets per node and cycle where terminals have rates of 1, else multiples of the rates, everywhere."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import obliv
from obliv.results import load
from obliv.results.base import PER_CYCLE, TIMES_THE_RATES
from obliv.view.report.contents import gather
from obliv.view.report.page import _units

RATED = "mesh:4x4,injection=2,ejection=2"


@pytest.fixture(scope="module", params=["mesh:4x4", RATED])
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def results(spec: str) -> dict[str, Any]:
    return {
        "worst": obliv.worst_case(obliv.routing("dor", spec)),
        "compare": obliv.compare(spec, "dor", unit="throughput"),
        "channels": obliv.worst_channels(obliv.routing("dor", spec)),
        "design": obliv.design("ring:3" + spec.removeprefix("mesh:4x4")),
    }


def test_every_result_says_whether_it_is_a_multiple_of_rates(spec: str, results: dict[str, Any], tmp_path: Any) -> None:
    for name, result in results.items():
        assert result.rated == (spec == RATED), name
        result.save(tmp_path / f"{name}.json")
        assert load(tmp_path / f"{name}.json").rated == result.rated


def test_worst_compare_pictures_and_pages_have_one_unit(spec: str, results: dict[str, Any]) -> None:
    unit, other = (TIMES_THE_RATES, PER_CYCLE) if spec == RATED else (PER_CYCLE, TIMES_THE_RATES)
    load_of_one = Fraction(3)  # dimension order on a mesh of radix k: k - 1
    assert results["worst"].throughput == 1 / load_of_one / (2 if spec == RATED else 1)
    text = repr(results["worst"])
    assert ("0.166667 times the rates of the terminals" in text) == (spec == RATED)
    assert f"throughput ({unit})" in repr(results["compare"]).splitlines()[0]
    patterns = obliv.compare(spec, "dor", traffic=["uniform"], unit="throughput").title
    assert "times the traffic; " in patterns
    assert unit in patterns
    assert other not in patterns
    axis = results["compare"].plot().get_xlabel()
    assert axis == unit
    assert _units(gather([results["worst"]])) == unit
    assert _units(gather([results["compare"]])) == unit
    assert (TIMES_THE_RATES in repr(results["design"])) == (spec == RATED)


def test_a_fraction_of_capacity_is_not_called_throughput() -> None:
    known = obliv.compare("mesh:4x4", "dor", "o1turn", traffic=["transpose"], samples=100)
    assert known.quantity == "capacity"
    for of in ("worst", "average", "transpose", ""):
        for kind in ("bars", "lines", "plane"):
            if kind == "bars" or of:
                ax = known.plot(kind=kind, **({"of": of} if of and kind != "bars" else {}))
                titles = (ax.get_title(loc) for loc in ("left", "center", "right"))
                assert "throughput" not in " ".join([*titles, ax.get_xlabel(), ax.get_ylabel()]).lower(), (kind, of)
    ax = results_of_loads()
    assert "throughput" not in ax.get_title("left") + ax.get_title()


def results_of_loads() -> Any:
    return obliv.view.plot_loads(obliv.routing("dor", obliv.mesh(4, 4)), "transpose")
