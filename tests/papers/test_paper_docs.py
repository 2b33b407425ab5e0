"""The pages on papers print what is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obliv import papers
from obliv.papers.text import computed_text
from obliv.papers.towles.statements import RADICES, series

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
            assert found[0] == start + computed_text(row["computed"]) + end
    verdicts = ("| match |", "| rounding |", "| erratum |")
    assert sum(line.endswith(verdicts) for line in printed) == len(towles.rows) - 1


def test_series_on_the_page() -> None:
    page = "\n".join(lines("papers/towles.md"))
    dor, romm = (series(name, lambda share: None) for name in ("dor", "romm"))
    for k in RADICES:
        assert f"| {k} | {dor[k]} = {float(dor[k]):.4f} | {romm[k]} = {float(romm[k]):.4f} |" in page


def test_the_verb_lists_every_paper_and_table(towles: Any) -> None:
    page = lines("verbs/reproduce.md")
    for name in papers.known():
        listed = next(line for line in page if line.startswith(f"| [`{name}`]"))
        tables = dict.fromkeys(row["table"] for row in towles.rows)
        assert listed.endswith("| " + " ".join(f"`{table}`" for table in tables) + " |")
        assert f"../papers/{name}.md" in listed
        assert (DOCS / "papers" / f"{name}.md").exists()
