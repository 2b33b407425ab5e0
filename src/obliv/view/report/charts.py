"""Charts of a report: Vega-Lite through Altair, with colors by name so that they follow the theme of the page."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from obliv.results.base import unit_of
from obliv.view.report.quantities import Row, first_choice
from obliv.view.report.sections.bars import bar_series, bars, left_out
from obliv.view.report.sections.plane import plane_points

__all__ = ["bundle", "charts_data"]

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
    """Return the bars of routings as a Vega-Lite specification: worst case and average as bars, patterns as dots.

    Estimates have whiskers; what lies between bounds is hollow.
    """
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
