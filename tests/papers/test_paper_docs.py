"""The pages on papers print what is computed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from obliv import papers
from obliv.papers.towles.statements import RADICES, series
from obliv.papers.u2turn.meshes import ROUTINGS
from obliv.papers.u2turn.printed import EVEN, FIGURE6_MESHES, ODD
from obliv.results.format import shown
from obliv.results.numbers import from_number

DOCS = Path(__file__).resolve().parents[2] / "docs"


def lines(page: str) -> list[str]:
    return (DOCS / page).read_text(encoding="utf-8").splitlines()


def test_every_row_of_towles_stands_on_its_page(towles: Any) -> None:
    printed = [line for line in lines("papers/towles.md") if line.startswith("|")]
    for row in towles.rows:
        if row["table"] == "growth":
            continue
        start = f"| {row['entry']} | {row['published']} | "
        end = f" | {row['verdict']} |"
        found = [line for line in printed if line.startswith(start) and line.endswith(end)]
        assert len(found) == 1, row["entry"]
        if "stderr" not in row["computed"]:
            assert found[0] == start + shown(from_number(row["computed"])) + end
    verdicts = tuple(f"| {verdict} |" for verdict in ("match", "rounding", "erratum", "open", "beyond"))
    assert sum(line.endswith(verdicts) for line in printed) == len(towles.rows) - 1


def test_series_on_the_page() -> None:
    page = "\n".join(lines("papers/towles.md"))
    dor, romm = (series(name, lambda share: None) for name in ("dor", "romm"))
    for k in RADICES:
        assert f"| {k} | {dor[k]} = {float(dor[k]):.4f} | {romm[k]} = {float(romm[k]):.4f} |" in page


def test_the_verb_lists_every_paper_and_table() -> None:
    page = lines("verbs/reproduce.md")
    for name in papers.known():
        listed = next(line for line in page if line.startswith(f"| [`{name}`]"))
        tables = importlib.import_module(f"obliv.papers.{name.replace('-', '_')}").PAPER.tables
        assert listed.endswith("| " + " ".join(f"`{table}`" for table in tables) + " |")
        assert f"../papers/{name}.md" in listed
        assert (DOCS / "papers" / f"{name}.md").exists()


def test_tables_3_and_4_on_the_page_of_u2turn(u2turn: Any) -> None:
    page = square_tables()
    for row in u2turn.rows:
        if row["table"] not in ("table3", "table4"):
            continue
        shown = page[row["entry"]]
        if "exact" in row["computed"]:
            assert shown == exact_cell(row), row["entry"]
        else:
            value = float(shown.partition(" ")[0])
            assert abs(value - row["computed"]["value"]) < 0.0001 + 5 * row["computed"]["stderr"]


@pytest.mark.nightly
def test_everything_on_the_page_of_u2turn_as_the_command_gives_it() -> None:
    rows = papers.reproduce("u2turn").to_dict()["rows"]
    assert "differs" not in {row["verdict"] for row in rows}
    page = square_tables()
    text = "\n".join(lines("papers/u2turn.md"))
    for row in rows:
        if row["table"] in ("table3", "table4") and "stderr" in row["computed"]:
            mark = f" (open, printed {row['published']})" if row["verdict"] == "open" else ""
            assert page[row["entry"]] == f"{row['computed']['value']:.4f}{mark}"
        if row["table"] == "figure7" or "computed averages" in row["entry"]:
            assert f"| {row['published']} | {100 * row['computed']['value']:.1f} % | {row['verdict']} |" in text


def square_tables() -> dict[str, str]:
    """The cells of the tables of square meshes, by entry."""
    cells, size = {}, ""
    for line in lines("papers/u2turn.md"):
        parts = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| ") and parts[0] in ODD | EVEN:
            size = parts[0]
            names = parts[1:]
        elif line.startswith("| ") and size and len(parts) == 5:
            cells |= {f"{size}, {parts[0]}, {name}": part for name, part in zip(names, parts[1:], strict=True)}
        elif not line.startswith("|"):
            size = ""
    return cells


def exact_cell(row: dict[str, Any]) -> str:
    value = row["computed"]["exact"]
    return value if row["verdict"] == "match" else f"{value} ({row['verdict']}, printed {row['published']})"


def test_other_rows_on_the_page_of_u2turn(u2turn: Any) -> None:
    text = "\n".join(lines("papers/u2turn.md"))
    for row in u2turn.rows:
        entry, published = row["entry"], row["published"]
        if row["table"] in ("claims", "equations", "figure3", "figure4", "figure5") or "Lx > Ly" in entry:
            assert f"| {entry} | {published} | {shown(from_number(row['computed']))} | {row['verdict']} |" in text
    figure6 = {row["entry"]: row["computed"]["exact"] for row in u2turn.rows if row["table"] == "figure6"}
    for kx, ky in FIGURE6_MESHES:
        values = (figure6[f"{kx}x{ky}, {name}"] for name in ROUTINGS)
        assert f"| {kx}x{ky} | {' | '.join(values)} |" in text
