"""Traffic files: names, headers, rounding, and lines that are refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obliv
from obliv.patterns.base import Traffic

MESH = obliv.mesh(2, 2)
ABC = obliv.build("abc", 4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)], labels=("a", "b c", "d", "e"))
THREE = ABC.with_terminals([2, 0, 1])  # d, a, "b c"


def read(kind: str, text: str, folder: Path, topology: obliv.Topology) -> Traffic:
    path = folder / "traffic.txt"
    path.write_text(text)
    return obliv.traffic(f"{kind}:{path}", topology)


@pytest.mark.parametrize(
    "text",
    [
        "0 1/2 1/2\n1/4 0 3/4\n1 0 0\n",
        'd, a, "b c"\n0, 0.5, 5e-1\n2.5E-1, 0, 75e-2\n1, 0, 0\n',
        ',a,"b c",d\n"b c",0,0,1\nd,1/2,1/2,0\na,0,3/4,1/4\n',
        "from,0,1,2\n1,1/4,0,3/4\n0,0,1/2,1/2\n2,1,0,0 # last\n",
    ],
)
def test_matrices_with_and_without_names(text: str, tmp_path: Path) -> None:
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    traffic = read("matrix", text, tmp_path, THREE)
    assert traffic.to_matrix() == [[0, half, half], [quarter, 0, 3 * quarter], [1, 0, 0]]
    assert traffic.notes == ()


@pytest.mark.parametrize(
    "text", ["src dst rate\n0 1 1/2\n2 0 0.25\n", 'd a 0.5\n"b c", d, 25e-2\n', "0,1,1/2\n2,0,1/4\n1,1,0"]
)
def test_rates_of_single_pairs(text: str, tmp_path: Path) -> None:
    traffic = read("flows", text, tmp_path, THREE)
    assert traffic.to_matrix() == [[0, Fraction(1, 2), 0], [0, 0, 0], [Fraction(1, 4), 0, 0]]


def test_permutations_by_name(tmp_path: Path) -> None:
    for text in ('a "b c"\nd', "1,2,\n0"):
        assert read("permutation", text, tmp_path, THREE).destination.tolist() == [1, 2, 0]
    swap = read("permutation", "(1,0) (0,0) 3 (0, 1)", tmp_path, MESH)
    assert swap.destination.tolist() == [1, 0, 3, 2]


@given(st.lists(st.lists(st.integers(1, 1000), min_size=4, max_size=4), min_size=4, max_size=4))
def test_rounded_rows_are_scaled_to_one(weights: list[list[int]]) -> None:
    exact = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    rounded = [[f"{float(rate):.7f}" for rate in row] for row in exact]
    traffic = obliv.matrix(rounded, "demand")
    assert traffic.row_sums == [1] * 4
    for (own, whole), rough in zip(zip(traffic.to_matrix(), exact, strict=True), rounded, strict=True):
        total = sum(Fraction(word) for word in rough)
        assert own == [Fraction(word) / total for word in rough]
        assert all(abs(a - b) < Fraction(1, 10**6) for a, b in zip(own, whole, strict=True))
    assert bool(traffic.notes) == any(sum(Fraction(word) for word in row) != 1 for row in rounded)


def test_rounding_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from obliv.cli import main

    traffic = read("matrix", "0 0.3333334 0.3333333 0.3333334\n" * 4, tmp_path, MESH)
    assert traffic.row_sums == [1] * 4
    assert "4 rows scaled to exactly what the terminal sends" in traffic.notes[0]
    assert ("1/2" * traffic + "1/2" * traffic).notes
    path = tmp_path / "traffic.txt"
    assert main(["throughput", "mesh:2x2", "dor", f"matrix:{path}"]) == 0
    assert "row 0, which added up to 1.0000001 instead of 1" in capsys.readouterr().err
    assert main(["ratio", "fattree:2,2", "dmodk", "--traffic", f"matrix:{path}"]) == 2  # of other terminals
    assert main(["plot", "loads", "mesh:2x2", "dor", f"matrix:{path}", "-o", str(tmp_path / "loads.svg")]) == 0
    assert "added up to 1.0000001" in capsys.readouterr().err
    assert obliv.matrix([["0.999998", 0], [0, 1]]).row_sums[0] == Fraction(999998, 10**6)  # not rounding
    with pytest.raises(obliv.TrafficError, match="row 0 adds up"):
        obliv.matrix([["1.000002", 0], [0, 1]])


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("matrix", "0 1 0\n0,,1,0\n1 0 0\n", ":2: 4 numbers in this row"),
        ("matrix", "0 1 0\n0,,1\n1 0 0\n", ":2: cell 2 is empty: write 0"),
        ("matrix", "0 1 0\n0,1,\n1 0 0\n", ":2: cell 3 is empty"),
        ("matrix", "0 1 0\n,1,0\n1 0 0\n", ":2: cell 1 is empty"),
        ("matrix", "0 six 0\n0 1 0\n1 0 0\n", ":1: 'six' is not a rate"),
        ("matrix", "0 1e100 0\n0 1 0\n1 0 0\n", ":1: '1e100' is not a rate"),
        ("matrix", "0 1 1\n0 1 0\n1 0 0\n", ":1: the row adds up to 2"),
        ("matrix", "d a f\n0 1 0\n0 1 0\n1 0 0\n", ":1: 'f' is not a terminal"),
        ("matrix", "d a e\n0 1 0\n0 1 0\n1 0 0\n", ":1: 'e' is a node of .*, but not a terminal"),
        ("matrix", "src,dst,rate\nd,a,0.5\n", ":1: names the columns of a list of pairs; .* read by flows:FILE"),
        ("matrix", "d a d\n0 1 0\n0 1 0\n1 0 0\n", ":1: a terminal heads two columns"),
        ("matrix", 'x d a "b c"\nd 0 1 0\nd 0 1 0\na 1 0 0\n', ":3: a second row of the terminal of line 2"),
        ("matrix", "0 1 0\n0 1 0\n", "2 rows, .* has 3 terminals"),
        ("matrix", "0 1 0\n" * 4, "4 rows, .* has 3 terminals"),
        ("matrix", "0;1;0\n0;1;0\n1;0;0\n", ":1: 1 number in this row, .* semicolons do not"),
        ("matrix", "0; 1; 0\n", ":1: '0;' is not a rate: .* semicolons do not"),
        ("matrix", "0,5 0,5 0\n0 1 0\n1 0 0\n", ":1: 5 numbers in this row, .* write 0.5, not 0,5"),
        ("flows", "0;1;0.5\n", ":1: a line has three cells: .* semicolons do not"),
        ("flows", "0 1 0,5\n", ":1: a line has three cells: .* write 0.5, not 0,5"),
        ("flows", "0 1\n", ":1: a line has three cells"),
        ("flows", "src dst rate\n0 1 x\n", ":2: 'x' is not a rate"),
        ("flows", "0 7 1\n", ":1: .* has no terminal 7; terminals are 0 to 2"),
        ("flows", "0 1 1/2\nd a 1/2\n", ":2: the pair stands in line 1 too"),
        ("flows", "0 1 1/2\n0 2 3/4\n", ":2: the row adds up to 1.25"),
        ("flows", "0 1 1\n0 2 1\n0 0 1\n", ":3: the row adds up to 3, its terminal sends at most 1"),
        ("flows", "0,,1\n", ":1: '' is not a terminal"),
        ("flows", "# nothing\n", "holds no rates"),
        ("permutation", "1,,2 0\n", ":1: '' is not a terminal"),
        ("permutation", "1;2;0\n", ":1: '1;2;0' is not a terminal.* semicolons do not"),
        ("permutation", "1; 2; 0\n", ":1: '1;' is not a terminal.* semicolons do not"),
        ("permutation", "1 2 zero\n", ":1: 'zero' is not a terminal"),
    ],
)
def test_wrong_lines(kind: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(obliv.FileError, match=message):
        read(kind, text, tmp_path, THREE)


@pytest.mark.parametrize(
    ("kind", "text", "sums"),
    [("matrix", "0 1 1\n1 0 0\n1/2 1/2 0\n", [2, 1, 1]), ("flows", "0 1 1\n0 2 1\n2 1 1/2\n", [2, 0, Fraction(1, 2)])],
)
def test_rows_of_any_sum(kind: str, text: str, sums: list[Fraction], tmp_path: Path) -> None:
    """The paper on fat trees has a unit for each pair; the ratio does not change with the unit."""
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    star = obliv.build("star", 4, [(v, 3) for v in range(3)] + [(3, v) for v in range(3)], terminals=range(3))
    spec = f"{kind}:{tmp_path / 't.txt'},rows=any"
    given = obliv.traffic(spec, star)
    assert (given.row_sums, given.spec) == (sums, spec)
    assert not given.admissible
    routing = obliv.routing("shortest", star)
    plain = obliv.traffic_ratio(routing, spec.removesuffix(",rows=any")).patterns[0]
    small = obliv.traffic_ratio(routing, "1/2" * given).patterns[0]
    assert (plain.traffic, plain.channel_load, plain.ratio) == (spec, 2 * small.channel_load, small.ratio)
    with pytest.raises(obliv.TrafficError, match="rows=all is unknown"):
        obliv.traffic(spec.replace("any", "all"), star)


def test_rows_that_fit_keep_their_spec_and_their_rounding(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0 0.3333333 0.6666666\n1 0 0\n1 0 0\n", encoding="utf-8")
    star = obliv.build("star", 4, [(v, 3) for v in range(3)] + [(3, v) for v in range(3)], terminals=range(3))
    given = obliv.traffic(f"matrix:{tmp_path / 't.txt'},rows=any", star)
    assert given.spec == f"matrix:{tmp_path / 't.txt'}"
    assert given == obliv.traffic(given.spec, star)
    assert given.row_sums == [1, 1, 1]


def test_a_matrix_that_looks_like_single_pairs(tmp_path: Path) -> None:
    with pytest.raises(obliv.FileError, match="source, destination and rate are read by flows:FILE"):
        read("matrix", "0 1 1/2\n", tmp_path, MESH)


def test_fractions_are_not_scaled() -> None:
    nearly = 1 - Fraction(1, 10**7)
    traffic = obliv.matrix([[0, nearly], [nearly, 0]])
    assert traffic.row_sums == [nearly, nearly]
    assert not traffic.notes
    assert obliv.matrix([[0, float(nearly)], [nearly, 0]]).row_sums == [1, nearly]


def test_a_first_flow_with_a_misspelled_rate_is_no_header(tmp_path: Path) -> None:
    for word in ("nan", "half", "1,5x"):
        with pytest.raises(obliv.FileError, match=r":1: .*(is not a rate|three cells)"):
            read("flows", f"0 1 {word}\n0 2 0.1\n", tmp_path, THREE)
    traffic = read("flows", "from to packets/cycle\n0 1 1/2\n", tmp_path, THREE)
    assert traffic.to_matrix()[0] == [0, Fraction(1, 2), 0]
