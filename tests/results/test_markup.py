"""Results in Markdown and LaTeX: the same cells as the table, with what the markup would take for its own escaped."""

from __future__ import annotations

import re

import pytest

import obliv
from obliv.cli import main
from obliv.results.markup import grid_of, to_latex, to_markdown


def test_a_comparison_is_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "mesh:4x4", "dor", "valiant", "--traffic", "transpose", "--format"]
    assert main([*words, "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| routing | worst | transpose | hops | × minimal |"
    assert lines[1] == "|---|---:|---:|---:|---:|"
    assert lines[2] == "| dor | 1/3 = 0.3333 | 1/3 = 0.3333 | 5/2 = 2.5 | 1 |"
    assert lines[4:] == ["", "fractions of capacity on mesh:4x4"]
    assert main([*words, "latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrr}"
    assert lines[2] == r"routing & worst & transpose & hops & $\times$ minimal \\"
    assert lines[4] == r"dor & $1/3 = 0.3333$ & $1/3 = 0.3333$ & $5/2 = 2.5$ & $1$ \\"
    assert lines[-2:] == [r"\end{tabular}", "% fractions of capacity on mesh:4x4"]
    words = ["compare", "mesh:4x4", "dor", "--traffic", "1/2*hot-nodes:5", "--format", "markdown"]
    assert main(words) == 0
    caption = capsys.readouterr().out.splitlines()[-1]
    assert caption.startswith("throughput (times the traffic; packets per node and cycle where each sends one)")
    assert r"; 1/2\*hot-nodes:5 on mesh:4x4: not admissible" in caption


def test_powers_of_ten_in_latex() -> None:
    lines = to_latex([["a"], ["0.5 ± <1e-6"], ["≈ 1.2e-07"], ["3"]]).splitlines()
    assert lines[4:7] == [r"$0.5 \pm < 1 \cdot 10^{-6}$ \\", r"$\approx 1.2 \cdot 10^{-7}$ \\", r"$3$ \\"]


def test_symbols_in_latex() -> None:
    """What pdflatex does not know by itself, it would refuse."""
    cell = to_latex([["a"], ["λ Ω Χ ≤ 10² x₁ × − “q” é ⇒"]]).splitlines()[4]
    symbols = r"$\lambda$ $\Omega$ $\mathrm{X}$ $\le$ 10$^{2}$ x$_{1}$ $\times$ $-$ ``q'' é ?"
    assert cell == symbols + r" \\"


def test_long_texts_in_latex_are_paragraphs_within_the_line() -> None:
    grid = [
        ["entry", "published", "computed", "verdict"],
        ["a" * 60, "word " * 30, "3/4 = 0.75", "match"],
        ["b", "c", "2", "match"],
    ]
    columns = to_latex(grid).splitlines()[0]
    shares = re.findall(r"p\{(0\.\d\d)\\linewidth\}", columns)
    assert re.sub(r"p\{.*?\}", "p", columns) == r"\begin{tabular}{pprl}"
    assert 0.5 < sum(map(float, shares)) < 0.8  # the rest is for the short columns
    assert float(shares[0]) < float(shares[1])
    assert to_latex([["entry"], ["a" * 60]]).startswith(r"\begin{tabular}{l}")  # which fits the line


def test_results_with_rows_and_with_figures() -> None:
    routing = obliv.DOR(obliv.mesh(3, 3))
    rows = grid_of(obliv.throughput(routing, "uniform", "transpose"))
    assert rows[0][2:6] == ["traffic", "channel load", "throughput", "fraction of capacity"]
    assert rows[0][6:] == ["admissible", "overload", "overload at", "limited by", "hops"]
    assert [row[2] for row in rows[1:]] == ["uniform", "transpose"]
    figures = grid_of(obliv.worst_case(routing))
    assert figures[0] == ["figure", "value"]
    assert ["channel load", "2"] in figures


def test_estimates_and_names() -> None:
    grid = [["a_b", "n"], ["x|y & {z} 5% -> $1", "0.410 ± 0.002"], ["~^#\\", "-"]]
    assert to_latex(grid).splitlines()[4:6] == [
        r"x$|$y \& \{z\} 5\% $\to$ \$1 & $0.410 \pm 0.002$ \\",
        r"\textasciitilde{}\textasciicircum{}\#\textbackslash{} & - \\",
    ]
    assert to_markdown(grid).splitlines()[2] == "| x\\|y & {z} 5% -> $1 | 0.410 ± 0.002 |"
    assert to_markdown(grid).splitlines()[1] == "|---|---:|"


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize(
    "words",
    [
        "worst mesh:3x3 dor",
        "average ring:5 dor --samples 10",
        "deadlock ring:4 dor",
        "list traffic",
        "ratio fattree:4,2 dmodk",
    ],
)
def test_every_verb_has_them(words: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*words.split(), "--format", form])
    out = capsys.readouterr().out
    assert out.startswith("| " if form == "markdown" else r"\begin{tabular}")
