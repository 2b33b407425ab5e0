"""The page of a report: one HTML file that needs no server and no foreign script, its charts, networks and look."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obliv import __version__
from obliv._util.files import paths_of, require_place, write_whole
from obliv._util.progress import Note, Progress, rising
from obliv._util.rationals import boolean, real
from obliv._util.text import plural, printable
from obliv.errors import FileError, InputError, OblivError, extra
from obliv.questions.worst_case import WorstCase
from obliv.results.base import Result, unit_of
from obliv.results.claims import is_certified
from obliv.view.interactive.fragment import PageLimits, allowed_only, script, style, untrusted_payload
from obliv.view.report.contents import Contents, ReportCell, Row, first_choice, gather, rows_of
from obliv.view.report.sections import (
    VERDICTS,
    bar_series,
    bars,
    how_rows,
    left_out,
    other_results,
    plane_points,
    reproduction_tables,
    table_data,
    verdict,
)

if TYPE_CHECKING:
    import jinja2


# Charts of a report: Vega-Lite through Altair, with colors by name so that they follow the theme of the page


_INK, _SOFT, _LINE, _CARD, _ACCENT, _OTHER = (
    f"var(--{name})" for name in ("ink", "soft", "line", "card", "accent", "s7")
)


_MAKE = """
import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode())
"""


@cache
def bundle() -> str:
    """Return the script of Vega, Vega-Lite and Vega-Embed as one piece, with ``vegaEmbed`` as its only global name.

    A process of its own makes it, as Ctrl-C would have to wait for a second in this one.
    """
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    made = subprocess.run([sys.executable, "-P", "-c", _MAKE], capture_output=True, env=places)
    if made.returncode:
        raise RuntimeError(f"the script of the charts cannot be made: {made.stderr.decode(errors='replace')[-300:]}")
    script = made.stdout.decode()
    if "</script" in script.lower() or "<!--" in script:
        raise RuntimeError("the script of the charts cannot stand in a page")
    return f"(() => {{{script}}})();\n"


def charts_data(rows: Sequence[Row]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the template says about the charts, and their specifications; empty where nothing can be drawn."""
    if not rows:
        return {}, {}
    series = bar_series(rows)
    found = bars(rows, series)
    points = plane_points(rows)
    placed = {point["topology"] for point in points}
    first = first_choice([row.topology for row in rows if row.topology in placed or not placed])
    times = all(point["times"] for point in points)
    unit = unit_of(any(row.rated for row in rows))
    specs = {"plane": plane_chart(points, first, times, unit)} if points else {}
    specs["bars"] = bars_chart(found, series, first, unit)
    about = {
        "topologies": list(dict.fromkeys(row.topology for row in rows)),
        "first": first,
        "plane": bool(points),
        "series": series,
        "average": any(bar["bar"] and bar["what"].startswith("average") for bar in found),
        "dots": not all(bar["bar"] for bar in found),
        "estimated": any(bar["how"] == "estimated" for bar in found),
        "bounded": any(bar["how"] == "bounded" for bar in found),
        "left_out": left_out(rows, series),
    }
    return about, specs


def plane_chart(points: Sequence[dict[str, Any]], first: str, times: bool, unit: str) -> dict[str, Any]:
    """Return the plane of throughput and locality as a Vega-Lite specification."""
    import altair as alt

    topology = alt.param(name="topology", value=first)
    x = alt.X("x:Q", title="mean hops, as a multiple of the least" if times else "mean hops").scale(
        zero=False, nice=True, padding=24
    )
    x = x.axis(tickCount=8, format=".4~g")  # all routings may have the same hops: then their number is the only tick
    y = alt.Y("y:Q", title=f"worst case ({unit})").scale(zero=True, nice=True).axis(tickCount=6)
    base = alt.Chart(alt.NamedData("rows")).transform_filter("datum.topology === topology").encode(x=x, y=y)
    room = base.transform_calculate(top="1.06 * datum.y").mark_point(opacity=0, aria=False).encode(y="top:Q")
    steps = base.transform_filter("datum.front").mark_line(
        interpolate="step-after", strokeDash=[4, 3], strokeWidth=1.2, color=_ACCENT, opacity=0.7, aria=False
    )
    marks = base.mark_point(filled=True, size=90, opacity=1, stroke=_CARD, strokeWidth=1).encode(
        color=alt.condition("datum.front", alt.value(_ACCENT), alt.value(_OTHER)),
        tooltip=_tooltip({"names": "routing", "through": "throughput", "hops": "mean hops", "times": "times minimal"}),
        description=alt.Description("names:N"),
    )
    narrow = {"align": "'center'", "dx": "0", "dy": "-10"}  # where there is room for the frontier alone
    place: Any = {name: alt.expr(f"width > 420 ? datum.{name} : {other}") for name, other in narrow.items()}
    names = base.mark_text(baseline="alphabetic", fontSize=12, color=_INK, aria=False, **place).encode(
        text="label:N", opacity=alt.condition("datum.front || width > 420", alt.value(1), alt.value(0))
    )
    chart = alt.layer(room, steps, marks, names).add_params(topology)
    heights = dict.fromkeys((point["topology"] for point in points), 360)
    return _finished(chart, "plane", points, 360) | {"usermeta": {"heights": heights}}


def bars_chart(found: Sequence[dict[str, Any]], series: Sequence[str], first: str, unit: str) -> dict[str, Any]:
    """Return bars for Vega-Lite: patterns as dots, estimates with whiskers, what lies between bounds hollow."""
    import altair as alt

    topology = alt.param(name="topology", value=first)
    thick = [name for name in series if any(bar["bar"] for bar in found if bar["what"] == name)]
    colors = alt.Color("what:N", title=None).scale(
        domain=list(series), range=[f"var(--s{k})" for k in range(len(series))]
    )
    colors = colors.legend(None)  # the page has one
    y = alt.Y("routing:N", title=None, sort=alt.EncodingSortField("place", op="min"))
    y = y.axis(labelLimit=132, ticks=False, domain=False, labelPadding=8)
    offset = alt.YOffset("slot:N", sort=thick).scale(domain=thick)
    base = alt.Chart(alt.NamedData("rows")).transform_filter("datum.topology === topology").encode(y=y, yOffset=offset)
    about: dict[str, Any] = {
        "tooltip": _tooltip({"routing": "routing", "what": "traffic", "full": "throughput", "how": "obtained"}),
        "description": alt.Description("full:N"),
    }
    solid = base.transform_filter("datum.bar").mark_bar(cornerRadiusEnd=2)
    solid = solid.encode(x=alt.X("value:Q", title=unit).scale(zero=True).axis(tickCount=6), color=colors, **about)
    rest = base.transform_filter("datum.bar").mark_bar(fillOpacity=0, aria=False)
    hollow = alt.condition("datum.how === 'bounded'", alt.value(1.5), alt.value(0))
    rest = rest.encode(x="low:Q", x2="high:Q", stroke=colors, strokeWidth=hollow)
    whiskers = base.transform_filter("datum.bar").mark_rule(color=_INK, aria=False)
    estimated = alt.condition("datum.how === 'estimated'", alt.value(1.4), alt.value(0))
    whiskers = whiskers.encode(x="low:Q", x2="high:Q", strokeWidth=estimated)
    dots = base.transform_filter("!datum.bar").mark_point(filled=True, size=70, opacity=1, stroke=_CARD, strokeWidth=1)
    dots = dots.encode(x="value:Q", color=colors, **about)
    room = int(max([62.0, *(6.9 * len(bar["text"]) for bar in found if bar["bar"])]))  # for the longest text
    texts = base.transform_filter("datum.bar").mark_text(align="right", dx=room, fontSize=11, color=_SOFT, aria=False)
    texts = texts.encode(x=alt.value("width"), text="text:N")
    chart = alt.layer(solid, rest, whiskers, dots, texts).add_params(topology)
    step = 12 * len(thick) + 10
    heights = {topology: step * rows for topology, rows in _rows(found).items()}
    return _finished(chart, "bars", found, heights[first]) | {"usermeta": {"heights": heights}}


def _rows(found: Sequence[dict[str, Any]]) -> Counter[str]:
    """Return how many rows the bars of each topology have."""
    bars = dict.fromkeys((bar["topology"], bar["place"]) for bar in found)  # equal inputs give equal bytes
    return Counter(topology for topology, _ in bars)


def _tooltip(fields: dict[str, str]) -> list[Any]:
    import altair as alt

    return [alt.Tooltip(f"{name}:N", title=title or name) for name, title in fields.items()]


def _finished(chart: Any, name: str, rows: Sequence[dict[str, Any]], height: int) -> dict[str, Any]:
    """Return a chart as a specification in the colors and the type of the page, as wide as its place."""
    text: dict[str, Any] = {"labelColor": _INK, "titleColor": _SOFT, "labelFontSize": 12, "titleFontSize": 12}
    text |= {"titleFontWeight": "normal", "gridColor": _LINE, "domainColor": _SOFT, "tickColor": _SOFT}
    fit = {"type": "fit-x", "contains": "padding"}  # with texts beside the axes
    chart = chart.properties(width="container", height=height, background="transparent", autosize=fit, padding=5)
    chart = chart.configure(font="system-ui, sans-serif").configure_view(stroke=None).configure_axis(**text)
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("usermeta", None)
    return spec | {"name": name, "data": {"values": list(rows)}}  # only now, since Altair checks every number for long


# The look that reports and the live page share: templates, the style sheet, and the choice of colors


def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return _text("obliv.view.report", f"assets/{name}")


def environment(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of reports, and those of other packages before them."""
    import jinja2

    loaders = [
        jinja2.FunctionLoader(lambda name, package=package: _found(package, f"templates/{name}"))  # type: ignore[misc]
        for package in (*packages, "obliv.view.report")
    ]
    made = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.ChoiceLoader(loaders),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": True, "allow_nan": False}
    made.filters["printable"] = printable
    return made


def _found(package: str, name: str) -> str | None:
    return _text(package, name) if resources.files(package).joinpath(name).is_file() else None


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


# The networks of a report: drawn with loads as color, and proved by the page itself


_ROOM = 2_000_000  # characters of all networks
_LIMITS = PageLimits(room=400_000, seconds=120.0)
_MOST_CELLS = 50_000  # terminals squared of the networks that are chosen from a study


@dataclass
class Networks:
    """The networks of a page, for its script, and why others are not there."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    worst_cases: int = 0

    @property
    def note(self) -> str:
        """How many worst cases the page has of all, in a sentence; empty if it has all."""
        missing = self.worst_cases - len(self.entries) - len(self.left_out)
        return f"The page has {len(self.entries)} of {plural(self.worst_cases, 'worst case')}." if missing > 0 else ""


def networks_of(
    contents: Contents, rows: Sequence[Row], most: int, budget: float, files: Sequence[Path], progress: Progress
) -> Networks:
    """Return up to `most` networks: those of saved results first, then the best ones of the topology shown first.

    What files name is built within `budget` seconds for all of them, from files in their folders and in `files`.
    """
    end = time.monotonic() + budget
    items = [item for item in contents.items if isinstance(item.result, WorstCase)]
    networks = Networks(worst_cases=len(items))
    room = _ROOM
    for item in _chosen(contents, items, rows):
        if len(networks.entries) == most:
            break
        result = item.result
        name = printable(item.row.label.partition(": ")[2])
        progress(f"drawing {name}", 0.4 + 0.5 * len(networks.entries) / most)
        try:
            folders = [contents.inputs[item.input].folder, *files]
            payload = untrusted_payload(result, _LIMITS, end - time.monotonic(), folders, name)  # type: ignore[arg-type]
        except (OblivError, NotImplementedError) as error:
            networks.left_out.append(printable(f"{name}: {error}"))
            continue
        size = len(json.dumps(payload, separators=(",", ":")))
        if size > room:
            networks.left_out.append(f"{name}: the networks of a page take up to {_ROOM / 1e6:g} MB")
            continue
        room -= size
        networks.entries.append(
            {
                "name": name,
                "topology": printable(item.row.topology),
                "routing": printable(item.row.routing or ""),
                "payload": payload,
            }
        )
    return networks


def _chosen(contents: Contents, items: Sequence[ReportCell], rows: Sequence[Row]) -> Iterator[ReportCell]:
    """Yield items in the order in which they get a network."""
    single = [item for item in items if contents.inputs[item.input].single]
    yield from single
    others = [item for item in items if not contents.inputs[item.input].single and _small(item)]
    if not others:
        return
    topology = first_choice([item.row.topology for item in others])
    here = {item.row.routing: item for item in others if item.row.topology == topology}
    known = {row.routing: row for row in rows if row.topology == printable(topology)}
    different: dict[Any, ReportCell] = {}  # one of those that share a point of the plane
    for routing, item in here.items():
        row = known.get(printable(routing or ""))
        different.setdefault((row.hops, row.values.get("worst")) if row else routing, item)
    best = sorted(different.values(), key=lambda item: -_throughput(item))[:1]
    yield from best
    yield from (item for item in different.values() if item not in best)
    seen = {id(item) for item in different.values()}
    yield from (item for item in others if id(item) not in seen)  # other topologies, and what looks the same


def _small(item: ReportCell) -> bool:
    permutation = getattr(item.result, "permutation", None) or ()
    return 0 < len(permutation) ** 2 <= _MOST_CELLS


def _throughput(item: ReportCell) -> float:
    value = item.row.figures.get("")
    return float(value) if isinstance(value, Fraction) else 0.0


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
    """Check, before any work, that a report can be written."""
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
        "script-src": [allowed_only(script) for script in scripts],
        "style-src": [allowed_only(style) for style in styles],
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
            versions=sorted({made.version for result in contents.results() if (made := result.provenance) is not None}),
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
