"""The generated pages of the site: every command and every public name stands there once."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import obliv
from obliv.cli.app import VERBS

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("generated")
    (folder / "left.md").write_text("a page of an earlier version", encoding="utf-8")
    runpy.run_path(str(DOCS / "generate.py"))["generate"](folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}


@pytest.mark.nightly
def test_pages_of_earlier_versions_are_removed(pages: dict[str, str]) -> None:
    assert "left" not in pages


@pytest.mark.nightly
def test_every_command_has_its_help(pages: dict[str, str]) -> None:
    for verb in VERBS:
        assert pages["help"].count(f"## obliv {verb}\n") == 1
    assert "### obliv fabric check\n\n```text\nUsage: obliv fabric check" in pages["help"]


@pytest.mark.nightly
def test_every_public_name_is_documented_once(pages: dict[str, str]) -> None:
    text = "".join(page for name, page in pages.items() if name.startswith("api-"))
    directives = re.findall(r"^\.\. auto\w+:: obliv\.(\w+)$", text, re.MULTILINE)
    modules = {"__version__", "bufferless", "errors", "fabric", "io", "papers", "study", "testing", "view"}
    assert sorted(directives) == sorted(set(obliv.__all__) - modules)


@pytest.mark.nightly
def test_every_work_stands_in_the_bibliography(pages: dict[str, str]) -> None:
    lines = [line for line in pages["bibliography"].splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines)) > 30
    assert any("Odd-even" in line or "odd-even turn model" in line for line in lines)


@pytest.mark.nightly
def test_a_key_stands_for_one_work() -> None:
    """The keys of docstrings are those of the bibliography, which lists each work once."""
    page = runpy.run_path(str(DOCS / "generate.py"))[
        "bibliography"
    ]()  # raises for works without keys, or with two texts
    keys = re.findall(r'^- <a id="(\w+)"></a>\*\*\[(\w+)\]\*\* (.*?) \(`obliv', page, re.MULTILINE)
    assert len(keys) == page.count("\n- ") > 30
    assert len({work for _, _, work in keys}) == len({key for _, key, _ in keys}) == len({id for id, _, _ in keys})


def test_every_page_stands_in_the_contents() -> None:
    contents = set(re.findall(r"file: (\S+)", (DOCS / "_toc.yml").read_text(encoding="utf-8")))
    written = {
        str(page.relative_to(DOCS).with_suffix(""))
        for page in DOCS.rglob("*.md")
        if not {"_build", "gallery", "generated"} & set(page.relative_to(DOCS).parts)
    }
    assert written == {name for name in contents if "generated" not in name and not name.startswith("gallery")} | {
        "index"
    }


@pytest.mark.nightly
def test_every_command_has_a_manual_page() -> None:
    manual = runpy.run_path(str(DOCS / "man.py"))["pages"]()
    assert {f"obliv-{verb}" for verb in VERBS} | {"obliv", "obliv-fabric-check"} <= set(manual)
    page = manual["obliv-worst"]
    assert ".SH NAME\nobliv\\-worst \\- Find the exact worst case" in page
    assert "\\-\\-channels" in page
    for source in manual.values():
        requests = {line.split()[0] for line in source.splitlines() if line.startswith((".", "'"))}
        assert requests <= {".TH", ".SH", ".PP", ".TP"}
