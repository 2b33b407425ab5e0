"""The page of a report: one HTML file that needs no server, runs no foreign script and asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from obliv import __version__
from obliv._util.files import paths_of, require_place, write_whole
from obliv._util.progress import Note, Progress, rising
from obliv._util.rationals import boolean, real
from obliv._util.text import plural, printable
from obliv.checker.claims import is_certified
from obliv.errors import FileError, InputError, extra
from obliv.results.base import Result, unit_of
from obliv.view.interactive.assets import script, style
from obliv.view.report.charts import bundle, charts_data
from obliv.view.report.contents import Contents, gather
from obliv.view.report.look import asset, environment
from obliv.view.report.networks import Networks, networks_of
from obliv.view.report.quantities import rows_of
from obliv.view.report.sections.how import how_rows
from obliv.view.report.sections.others import other_results
from obliv.view.report.sections.reproduction import VERDICTS, reproduction_tables
from obliv.view.report.sections.table import table_data
from obliv.view.report.sections.verdict import verdict

__all__ = ["require_report", "write_report"]

_MOST_NOTES = 20  # on damaged cells, which the page marks all, and on figures that are left out
_BRIEF = 12  # rows of the table of a page to hand on
_STATIC = 60  # rows of the table that stand in the page for readers without scripts


def write_report(
    inputs: str | Path | Result | Sequence[str | Path | Result],
    path: str | Path,
    *,
    title: str = "",
    study: str = "",
    networks: int = 6,
    brief: bool = False,
    budget: float = 120.0,
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    progress: Progress | None = None,
) -> None:
    """Write a report of studies and saved results: one self-contained web page.

    The page sorts and filters its table, draws its charts, and opens without a network from any folder or e-mail.
    Equal inputs give equal bytes.

    Parameters
    ----------
    inputs : path-like, Result, or a sequence of these
        Stores of studies, saved results (``.json``, ``.json.gz``) and results in memory.
    path : path-like
        The file, which ends in ``.html``; written completely or not at all.
    title : str
        Heading; by default the names of the studies, or what was analyzed.
    study : str
        Of stores with several studies only this one.
    networks : int
        Most networks to draw and prove in the page: those of saved results, then some of a study.
    brief : bool
        Whether to write one page to hand on: the verdict, the charts and the best rows of the table, for print.
    budget : float
        Time limit in seconds for building and drawing the networks that files name; the page says which it lacks.
    files : path-like or several of them, optional
        Files, and folders of files, that specs in the inputs may name, besides those in the folders of the inputs.
    progress : callable, optional
        Called with what is done, and the share that is done.

    Raises
    ------
    InputError
        If the ending is another one, there is nothing to report, or two inputs contradict each other.
    FileError
        If a file cannot be read or written.
    MissingExtraError
        If the extra ``report`` is not installed.

    Examples
    --------
    >>> import obliv, tempfile
    >>> page = Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(obliv.compare("mesh:3x3", "dor", "valiant"), page)
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    brief = boolean(brief, "brief")
    if not isinstance(inputs, str | Path | Result | Iterable):
        raise InputError(f"a report is about stores and results, or their files, not about a {type(inputs).__name__}")
    sources = [inputs] if isinstance(inputs, str | Path | Result) else list(inputs)
    require_report(path, [source for source in sources if not isinstance(source, Result)])
    allowed = paths_of(files)
    step = rising(progress)
    step("reading", 0.0)
    contents = gather(sources, study)
    for message in (*contents.damaged, *contents.notes)[:_MOST_NOTES]:
        step(Note(printable(message)), 0.3)
    limits = networks, real(budget, "budget"), allowed
    write_whole(path, _page(contents, title, limits, step, brief).encode("utf-8"))
    step("report", 1.0)


def require_report(path: str | Path, inputs: Sequence[str | Path] = ()) -> None:
    """Check, before any work, that a report can be written.

    Raises
    ------
    InputError
        If the file does not end in ``.html``.
    FileError
        If its folder does not exist, or it is an input.
    MissingExtraError
        If the extra ``report`` is not installed.
    """
    if Path(path).suffix.lower() != ".html":
        raise InputError(f"a report is a web page: name a file that ends in .html, not {str(path)!r}")
    require_place(path)
    if Path(path).resolve() in {Path(source).resolve() for source in inputs}:
        raise FileError("is an input file and would be overwritten: choose another file", path)
    _require_packages()


def _require_packages() -> None:
    from importlib.util import find_spec

    for module, package in (("jinja2", "jinja2"), ("altair", "altair"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise extra(package, "report")


def _page(contents: Contents, title: str, limits: tuple[int, float, list[Path]], step: Progress, brief: bool) -> str:
    table = table_data(contents, _BRIEF if brief else None)
    rows = rows_of(contents.items)
    charts, specs = charts_data(rows)
    if brief and specs.pop("plane", None):
        charts["plane"] = False
    step("networks", 0.4)
    networks = Networks() if brief else networks_of(contents, rows, *limits, step)
    step("charts", 0.9)
    scripts = [bundle()] * bool(specs) + [script()] * bool(networks.entries)
    scripts += [asset(f"{name}.js") for name in ("theme", "table", "charts", "networks", "page")]
    styles = [asset("page.css")] + [style()] * bool(networks.entries)
    blocks: dict[str, Any] = {"table": table if table["topology"] else None}
    blocks |= {"charts": specs, "networks": networks.entries}
    rules = {
        "default-src": ["'none'"],
        "script-src": [_hash(script) for script in scripts],
        "style-src": [_hash(style) for style in styles],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return (
        environment()
        .get_template("page.html")
        .render(
            policy="; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items()),
            scripts=scripts,
            styles=styles,
            blocks={name: block for name, block in blocks.items() if block},
            networks=networks,
            title=printable(title) or _title(contents),
            tiles=_tiles(contents, table),
            brief=brief,
            unit=_units(contents),
            verdict=verdict(contents),
            inputs=contents.inputs,
            versions=_versions(contents),
            version=__version__,
            table=_static_rows(table)
            | {"all": len({(item.row.topology, item.row.routing) for item in contents.items})},
            charts=charts,
            papers=[] if brief else reproduction_tables(contents.reproductions),
            verdicts=VERDICTS,
            others=[] if brief else other_results(contents),
            how=[] if brief else how_rows(contents),
        )
    )


def _hash(text: str) -> str:
    """Return the source expression that allows exactly this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _title(contents: Contents) -> str:
    names = [source.holds.partition(":")[0].removeprefix("study ") for source in contents.inputs if not source.digest]
    results = [result.title for result in contents.results()]
    if len(contents.inputs) == 1 and len(results) == 1:
        return printable(results[0])
    return printable(", ".join(names)) or f"{plural(len(results), 'result')}"


def _units(contents: Contents) -> str:
    """Return the units of the throughputs in the table."""
    rated = any(getattr(item.result, "rated", False) for item in contents.items)
    patterns = any(item.row.measure == "throughput" for item in contents.items)
    return unit_of(rated) + ", of patterns times the traffic" * patterns


def _versions(contents: Contents) -> list[str]:
    """Return the versions of obliv that computed the results."""
    return sorted({result.provenance.version for result in contents.results() if result.provenance is not None})


def _tiles(contents: Contents, table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers at the top of the page, with their names."""
    status = Counter(item.row.status for item in contents.items)
    proofs = sum(is_certified(result) for result in contents.results())
    tiles = [
        (len(set(table["topology"])), "topology", "topologies"),
        (len(set(table["routing"]) - {""}), "routing", "routings"),
        (status["done"], "result", "results"),
        (proofs, "with a certificate", "with certificates"),
        (status["failed"], "failed", "failed"),
        (status["damaged"], "damaged", "damaged"),
        (status["pending"], "not finished", "not finished"),
        (sum(len(paper.entries) for paper in contents.reproductions), "entry of a paper", "entries of papers"),
    ]
    return [(f"{count:,}", one if count == 1 else more) for count, one, more in tiles if count]


def _static_rows(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first rows of the table, which the script replaces."""
    rows = [
        [(column["text"][k], column["how"][k], column["number"]) for column in table["columns"]]
        for k in range(min(_STATIC, len(table["topology"])))
    ]
    return {
        "columns": [(column["name"], column["number"]) for column in table["columns"]],
        "rows": list(zip(table["routing"], table["topology"], rows, strict=False)),
        "count": len(table["topology"]),
    }
