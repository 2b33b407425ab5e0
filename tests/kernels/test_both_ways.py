"""Every kernel returns and writes the same interpreted and compiled, on all inputs that the workloads give it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import pytest
from tests.kernels.recorder import Call, alike, all_kernels, as_passed, recording, signature
from tests.kernels.workloads import WORKLOADS

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
        for kernel, some in calls_of(workload, tmp_path_factory.mktemp(workload)).items():
            gathered[kernel] += some
    return gathered


@pytest.mark.parametrize("name", NAMES)
def test_interpreted_equals_compiled(name: str, calls: dict[str, list[Call]]) -> None:
    assert calls[name], f"no workload in tests/kernels/workloads.py reaches {name}"
    check(name, calls[name])


@pytest.mark.skipif("NUMBA_BOUNDSCHECK" not in os.environ, reason="the same calls are among those above")
def test_untrusted_bytes(tmp_path: Path) -> None:
    for name, some in calls_of("hostile_tables", tmp_path).items():
        check(name, some)


@pytest.mark.nightly
def test_all_kernels_keep_within_bounds() -> None:
    checked_run("test_interpreted_equals_compiled")


def test_untrusted_bytes_keep_the_kernels_within_bounds() -> None:
    checked_run("test_untrusted_bytes")


def checked_run(test: str) -> None:
    """Run a test of this file with checked indices: in another process, as the compiler reads this on import."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-n",
        "0",
        "--assert=plain",
        __file__,
        "-k",
        f"{test} and not keep",
    ]
    answer = subprocess.run(command, env=os.environ | {"NUMBA_BOUNDSCHECK": "1"}, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout[-3000:]
