"""Rates of single terminals, in specs, in files and in Python."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import obliv

MESH = obliv.mesh(2, 2)
EXPECTED = (Fraction(4), Fraction(1), Fraction(1), Fraction(1, 2))


@pytest.mark.parametrize(
    "rates",
    [
        [4, 1, 1, 0.5],
        np.array([4, 1, 1, 0.5]),
        "4x1x1x1/2",
        "4x1x1x0.5",
        {"(0,0)": 4, 3: "1/2"},
        {"0": 4, "(1,1)": 0.5},
    ],
)
def test_rates_of_single_terminals(rates: Any) -> None:
    assert obliv.mesh(2, 2, ejection=rates).ejection == EXPECTED
    assert MESH.with_rates(injection=rates).injection == EXPECTED
    network = obliv.mesh(2, 2, injection=rates)
    assert network.spec == "mesh:2x2,injection=4x1x1x1/2"
    assert obliv.topology(network.spec) == network
    assert network.capacity_load is None
    assert network.ejection == ()


def test_rates_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "controllers.txt"
    path.write_text("# memory controllers\n(0,0) 4\n3, 1/2\n")
    network = obliv.topology(f"mesh:2x2,ejection={path},bandwidth=2")
    assert network.ejection == EXPECTED
    assert network.injection == ()
    assert network.spec == f"mesh:2x2,bandwidth=2,ejection={path}"
    assert obliv.topology(network.spec) == network == pickle.loads(pickle.dumps(network))
    assert [name for name, _ in network.sources] == [str(path)]
    worst = obliv.worst_case(obliv.DOR(network), certificate=True)
    assert (
        worst.channel_load == obliv.worst_case(obliv.DOR(obliv.mesh(2, 2, bandwidth=2, ejection=EXPECTED))).channel_load
    )
    assert obliv.verify(worst).proved
    assert MESH.with_rates(ejection=str(path)).ejection == EXPECTED


def test_ones_are_left_out() -> None:
    for rates in (1, [1, 1, 1, 1], "1x1x1x1", {}, {0: 1}):
        assert obliv.mesh(2, 2, injection=rates) == MESH


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(0,0)\n", ":1: a line has two cells"),
        ("(0,0) 4\n0 1\n", ":2: terminal 0 stands in line 1 too"),
        ("(0,2) 4\n", ":1: '.0,2.' is not a terminal: mesh:2x2 has no node"),
        ("7 4\n", ":1: mesh:2x2 has no terminal 7; terminals are 0 to 3"),
        ("1 0\n", ":1: ejection of terminal 1 is 0: it must be a positive"),
        ("1 fast\n", ":1: ejection of terminal 1 is fast"),
    ],
)
def test_wrong_lines(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rates.txt"
    path.write_text(text)
    with pytest.raises(obliv.FileError, match=message):
        obliv.topology(f"mesh:2x2,ejection={path}")


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ([1, 1], "2 injection rates are given for 4 terminals"),
        ("1x2", "2 injection rates"),
        ("1x1x0x1", "positive"),
        ({"(5,5)": 1}, "not a terminal"),
        ("no-such-file.txt", "injection=no-such-file.txt is neither a number nor a file"),
        (-1, "positive"),
    ],
)
def test_wrong_rates(rates: Any, message: str) -> None:
    with pytest.raises(obliv.InputError, match=message):
        obliv.mesh(2, 2, injection=rates)
