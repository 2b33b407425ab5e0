"""Every kernel returns and writes the same interpreted and compiled, on all inputs that the workloads give it."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path

import numba
import numpy as np
import pytest
from tests.kernels.recorder import Call, alike, all_kernels, as_passed, recording, signature
from tests.kernels.workloads import WORKLOADS

from obliv._util.arrays import Array
from obliv.kernels import kernel

NAMES = sorted(all_kernels())


def calls_of(workload: str, folder: Path) -> dict[str, list[Call]]:
    """Calls of every kernel that a workload makes."""
    with warnings.catch_warnings(), recording() as recorded:
        warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)  # meant, in random numbers
        WORKLOADS[workload](folder, 0)
    return recorded


def check(name: str, calls: list[Call]) -> None:
    """Compare compiled calls with the interpreted ones."""
    machine = all_kernels()[name].compiled()
    for call in calls:
        args = as_passed(call.before)
        result = machine(*args)
        assert alike(result, call.result), signature(args)
        for number, (mine, theirs) in enumerate(zip(args, call.after, strict=True)):
            assert alike(mine, theirs), f"argument {number} of {signature(args)}"


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Call]]:
    """Calls of every kernel from all workloads."""
    gathered: dict[str, list[Call]] = defaultdict(list)
    for workload in WORKLOADS:
        for name, some in calls_of(workload, tmp_path_factory.mktemp(workload)).items():
            gathered[name] += some
    return gathered


@pytest.mark.parametrize("workload", ["hostile_tables"])
def test_kernels_of_a_workload(workload: str, tmp_path: Path) -> None:
    calls = calls_of(workload, tmp_path)
    assert calls
    for name, some in calls.items():
        check(name, some)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_is_reached(name: str, calls: dict[str, list[Call]]) -> None:
    assert calls[name], f"no workload in tests/kernels/workloads.py reaches {name}"


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_interpreted_equals_compiled(name: str, calls: dict[str, list[Call]]) -> None:
    check(name, calls[name])


@pytest.fixture
def bounds_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile all kernels anew, with checked indices."""
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    for each in all_kernels().values():
        monkeypatch.setattr(each, "_machine", None)


@kernel
def _item(values: Array, at: int) -> int:
    return int(values[at])


@pytest.mark.usefixtures("bounds_checked")
def test_indices_are_checked() -> None:
    with pytest.raises(IndexError):
        _item.compiled()(np.zeros(2, np.int64), 2)


@pytest.mark.nightly
@pytest.mark.usefixtures("bounds_checked")
def test_all_kernels_keep_within_bounds(calls: dict[str, list[Call]]) -> None:
    for name, some in calls.items():
        check(name, some)


@pytest.mark.nightly
@pytest.mark.usefixtures("bounds_checked")
def test_untrusted_bytes_keep_the_kernels_within_bounds(tmp_path: Path) -> None:
    for name, some in calls_of("hostile_tables", tmp_path).items():
        check(name, some)
