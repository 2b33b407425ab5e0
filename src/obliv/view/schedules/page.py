"""An animation as a web page that holds all it needs: a drawing, a little script and controls."""

from __future__ import annotations

import html
import json

import numpy as np

from obliv.view.schedules.animation import Scene
from obliv.view.style import FAINT, INK, QUIET

__all__ = ["as_page"]

_WIDE, _EDGE = 1000.0, 24.0  # of the drawing, and of its margin, in its own units

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>@TITLE@</title>
<style>
body { font: 16px/1.45 system-ui, sans-serif; color: @INK@; background: #fff; max-width: 62rem; margin: 1rem auto;
 padding: 0 1rem }
h1 { font-size: 1.2rem; margin: 0 0 .3rem }
svg { display: block; width: 100%; height: auto; max-height: 72vh }
.controls { display: flex; flex-wrap: wrap; gap: .5rem .8rem; align-items: center; margin: .6rem 0 }
.controls input { flex: 1 1 12rem; min-width: 8rem }
button, select { font: inherit; padding: .25rem .7rem }
:focus-visible { outline: 3px solid #0072b2; outline-offset: 2px }
ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .3rem 0 }
li span { display: inline-block; width: .8rem; height: .8rem; border-radius: 50%; margin-right: .4rem }
</style>
</head>
<body>
<h1>@TITLE@</h1>
<ul aria-label="Colours">@LEGEND@</ul>
<svg viewBox="0 0 @WIDTH@ @HEIGHT@" role="img" aria-labelledby="about">
<title id="about">The network with its packets; the text below says how many are under way.</title>
<path d="@LINKS@" fill="none" stroke="@QUIET@" stroke-width="1.2"/>
<g fill="#fff" stroke="@FAINT@" stroke-width="1">@NODES@</g>
<g id="packets" stroke="#fff" stroke-width="1"></g>
</svg>
<div class="controls" role="group" aria-label="Playback">
<button type="button" id="back" aria-label="One step back">&#9664;&#xFE0E;</button>
<button type="button" id="play">Play</button>
<button type="button" id="on" aria-label="One step on">&#9654;&#xFE0E;</button>
<label for="step">Step</label>
<input type="range" id="step" min="0" max="@STEPS@" step="1" value="0">
<label for="speed">Steps a second</label>
<select id="speed"><option>1</option><option>2</option><option>4</option><option>8</option><option>16</option></select>
</div>
<p id="state" role="status"></p>
<p>@CAPTION@</p>
<noscript><p>The packets move by a script, which is switched off here.</p></noscript>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const step = get("step"), play = get("play"), speed = get("speed"), state = get("state");
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const svg = "http://www.w3.org/2000/svg";
const discs = data.ways.map(way => {
  const disc = document.createElementNS(svg, "circle"), title = document.createElementNS(svg, "title");
  disc.setAttribute("r", data.radius);
  title.textContent = way.name;
  disc.append(title);
  get("packets").append(disc);
  return disc;
});
let now = 0, running = false, last = 0;
function show() {
  let under = 0, done = 0;
  data.ways.forEach((way, i) => {
    const past = now - way.enters, k = Math.floor(past), end = way.nodes.length - 1;
    if (past >= end) done += 1;
    const there = past >= 0 && past < end;
    discs[i].style.display = there ? "" : "none";
    if (!there) return;
    under += 1;
    const a = data.points[way.nodes[k]], b = data.points[way.nodes[k + 1]], f = past - k;
    const turn = 2.399963 * i, r = 0.35 * data.radius;
    discs[i].setAttribute("cx", a[0] + f * (b[0] - a[0]) + r * Math.cos(turn));
    discs[i].setAttribute("cy", a[1] + f * (b[1] - a[1]) + r * Math.sin(turn));
    discs[i].setAttribute("fill", data.colours[typeof way.looks === "number" ? way.looks : +way.looks[k]]);
  });
  const text = `Step ${Math.floor(now)} of ${data.steps}: ${under} under way, ${done} of ${discs.length} arrived.`;
  if (state.textContent !== text) state.textContent = text;
  step.value = Math.floor(now);
}
function run(on) {
  running = on;
  state.setAttribute("aria-live", on ? "off" : "polite");
  play.textContent = on ? "Pause" : "Play";
  last = 0;
  if (on) requestAnimationFrame(tick);
}
let exact = 0;
function tick(time) {
  if (!running) return;
  exact = Math.min(exact + (last ? (time - last) / 1000 * speed.value : 0), data.steps);
  last = time;
  now = still ? Math.floor(exact) : exact;
  show();
  if (exact >= data.steps) run(false); else requestAnimationFrame(tick);
}
function go(to) { run(false); exact = now = Math.max(0, Math.min(data.steps, to)); show(); }
play.onclick = () => { if (!running && exact >= data.steps) exact = 0; run(!running); };
get("back").onclick = () => go(Math.ceil(now) - 1);
get("on").onclick = () => go(Math.floor(now) + 1);
step.oninput = () => go(+step.value);
speed.value = data.speed;
show();
</script>
</body>
</html>
"""


def as_page(scene: Scene, speed: float) -> str:
    """The page of a scene; whatever names are in it stand there as text only."""
    points = np.round(_EDGE + scene.points * (_WIDE - 2 * _EDGE), 1)
    radius = round(scene.radius * (_WIDE - 2 * _EDGE), 2)
    data = {
        "steps": scene.steps,
        "speed": str(min((1, 2, 4, 8, 16), key=lambda each: abs(each - speed))),
        "radius": radius,
        "colours": scene.colours,
        "points": points.tolist(),
        "ways": [
            {
                "name": each.name,
                "enters": each.enters,
                "nodes": each.nodes.tolist(),
                "looks": int(each.looks[0])
                if (each.looks == each.looks[0]).all()
                else "".join(map(str, each.looks.tolist())),
            }
            for each in scene.ways
        ],
    }
    nodes = "".join(
        f'<circle cx="{x:g}" cy="{y:g}" r="{0.55 * radius:.2f}"><title>node {html.escape(name)}</title></circle>'
        for (x, y), name in zip(points.tolist(), scene.names, strict=True)
    )
    ends = points[scene.joined].tolist()
    links = "".join(f"M{a[0]:g} {a[1]:g}L{b[0]:g} {b[1]:g}" for a, b in ends)
    legend = "".join(
        f'<li><span style="background:{colour}"></span>{html.escape(name)}</li>' for colour, name in scene.legend
    )
    parts = {
        "TITLE": html.escape(scene.title),
        "CAPTION": html.escape(scene.caption),
        "LEGEND": legend,
        "WIDTH": f"{_WIDE:g}",
        "HEIGHT": f"{2 * _EDGE + scene.height * (_WIDE - 2 * _EDGE):.0f}",
        "STEPS": str(scene.steps),
        "LINKS": links,
        "NODES": nodes,
        "INK": INK,
        "QUIET": QUIET,
        "FAINT": FAINT,
        "DATA": json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c"),
    }
    page = _PAGE.split("@")  # the words between two signs are those of the parts, which may hold such signs themselves
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(page))
