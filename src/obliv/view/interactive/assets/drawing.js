"use strict";
// Shapes of a network picture: ribbons with arrow heads, curves of pairs, the nearest channel, and the legend.
(function (root) {
  const SVG = "http://www.w3.org/2000/svg";
  const BESIDE = 0.085;
  const STEPS = 8; // of color, in network.css

  // An element with attributes and text; names are only ever set as text.
  function make(name, attributes, text) {
    const element = document.createElement(name);
    return dress(element, attributes, text);
  }

  function shape(name, attributes, text) {
    return dress(document.createElementNS(SVG, name), attributes, text);
  }

  function dress(element, attributes, text) {
    for (const key in attributes || {}) if (attributes[key] !== null) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const points = (flat) => {
    const line = [];
    for (let k = 0; k + 1 < flat.length; k += 2) line.push([flat[k], flat[k + 1]]);
    return line;
  };

  // The lines of a channel; a straight one beside the middle of its link where the page has none.
  function linesOf(payload, channel) {
    if (channel.lines) return channel.lines.map(points);
    const tail = payload.nodes[channel.tail], head = payload.nodes[channel.head];
    const dx = head.x - tail.x, dy = head.y - tail.y, far = Math.hypot(dx, dy);
    if (far === 0) return [[[tail.x, tail.y], [tail.x + payload.radius, tail.y - payload.radius]]];
    const beside = Math.min(BESIDE, far / 4), inset = Math.min(payload.radius, far / 3) / far;
    const right = [-dy / far * beside, dx / far * beside];
    const at = (t) => [tail.x + t * dx + right[0], tail.y + t * dy + right[1]];
    return [[at(inset), at(1 - inset)]];
  }

  // The closed outline of an arrow along a line.
  function ribbon(line, width) {
    const at = [0];
    for (let k = 1; k < line.length; k++) {
      at.push(at[k - 1] + Math.hypot(line[k][0] - line[k - 1][0], line[k][1] - line[k - 1][1]));
    }
    const total = at[at.length - 1];
    if (!(total > 0)) return "";
    const neck = total - Math.min(0.07 + 1.5 * width, 0.6 * total), wing = 0.03 + 0.95 * width;
    let last = 0;
    while (last + 1 < line.length && at[last + 1] < neck) last++;
    const t = (neck - at[last]) / (at[last + 1] - at[last]);
    const base = [0, 1].map((axis) => line[last][axis] + t * (line[last + 1][axis] - line[last][axis]));
    const shaft = line.slice(0, last + 1).concat([base]), tip = line[line.length - 1];
    const left = [], right = [];
    shaft.forEach((point, k) => {
      const before = shaft[Math.max(k - 1, 0)], after = k + 1 < shaft.length ? shaft[k + 1] : tip;
      const dx = after[0] - before[0], dy = after[1] - before[1], far = Math.hypot(dx, dy) || 1;
      const across = [-dy / far * width / 2, dx / far * width / 2];
      left.push([point[0] + across[0], point[1] + across[1]]);
      right.push([point[0] - across[0], point[1] - across[1]]);
    });
    const dx = tip[0] - base[0], dy = tip[1] - base[1], far = Math.hypot(dx, dy) || 1;
    const barb = [-dy / far * wing, dx / far * wing];
    const outline = [...left, [base[0] + barb[0], base[1] + barb[1]], tip,
      [base[0] - barb[0], base[1] - barb[1]], ...right.reverse()];
    return "M" + outline.map((point) => point[0].toFixed(3) + " " + point[1].toFixed(3)).join("L") + "Z";
  }

  const path = (lines) => lines.map((line) => "M" + line.map((p) => p[0] + " " + p[1]).join("L")).join("");

  // The curve of a pair, bowed away from the straight line between its ends.
  function flow(payload, start, end) {
    const dx = end.x - start.x, dy = end.y - start.y, far = Math.hypot(dx, dy), radius = payload.radius;
    if (far === 0) {
      const line = [];
      for (let k = 0; k <= 14; k++) {
        const angle = 0.35 * Math.PI - k / 14 * 1.65 * Math.PI;
        line.push([start.x + 1.1 * radius + radius * Math.cos(angle), start.y - 1.1 * radius + radius * Math.sin(angle)]);
      }
      return line;
    }
    const rise = 0.16 + 0.07 * far, cut = Math.min(1.1 * radius / far, 0.3), line = [];
    for (let k = 0; k <= 16; k++) {
      const t = cut + (1 - 2 * cut) * k / 16, bow = 4 * t * (1 - t) * rise / far;
      line.push([start.x + t * dx - bow * dy, start.y + t * dy + bow * dx]);
    }
    return line;
  }

  const removedLines = (payload) => payload.removed ? payload.removed.channels.flatMap((list) => list.map(points)) : [];

  // The box around all nodes and lines.
  function boxOf(payload, lines) {
    const box = [Infinity, Infinity, -Infinity, -Infinity], margin = payload.radius + 0.1;
    const grow = (x, y, by) => {
      box[0] = Math.min(box[0], x - by); box[1] = Math.min(box[1], y - by);
      box[2] = Math.max(box[2], x + by); box[3] = Math.max(box[3], y + by);
    };
    for (const node of payload.nodes) grow(node.x, node.y, margin);
    for (const list of lines) for (const line of list) for (const [x, y] of line) grow(x, y, 0.1);
    for (const line of removedLines(payload)) for (const [x, y] of line) grow(x, y, 0.1);
    for (const node of payload.removed ? payload.removed.nodes : []) grow(node.x, node.y, margin);
    if (!payload.nodes.length) return { x: 0, y: 0, w: 1, h: 1 };
    // curves between terminals on one side of the picture bow outwards
    const ends = payload.terminals.map((node) => [payload.nodes[node].x, payload.nodes[node].y]);
    [0, 1, 2, 3].forEach((side) => {
      const axis = side % 2, outward = side < 2 ? -1 : 1;
      const edge = ends.reduce((most, end) => Math.max(most, outward * end[axis]), -Infinity);
      const along = ends.filter((end) => outward * end[axis] > edge - 1e-6).map((end) => end[1 - axis]);
      if (along.length < 2) return;
      const span = along.reduce((most, at) => Math.max(most, at), -Infinity) - along.reduce((least, at) => Math.min(least, at), Infinity);
      const reach = outward * (edge + 0.2 + 0.07 * span);
      box[side] = side < 2 ? Math.min(box[side], reach) : Math.max(box[side], reach);
    });
    return { x: box[0], y: box[1], w: box[2] - box[0], h: box[3] - box[1] };
  }

  // Finds the nearest channel: pieces of lines in the cells of a grid.
  function locator(lines, box) {
    const count = lines.reduce((sum, list) => sum + list.length, 1);
    const size = Math.max(Math.sqrt(box.w * box.h / count), 0.25), cells = new Map();
    const key = (x, y) => Math.floor(x / size) + ":" + Math.floor(y / size);
    lines.forEach((list, c) => list.forEach((line) => {
      for (let k = 0; k + 1 < line.length; k++) {
        const [ax, ay] = line[k], [bx, by] = line[k + 1];
        const steps = Math.max(1, Math.ceil(2 * Math.hypot(bx - ax, by - ay) / size));
        for (let s = 0; s <= steps; s++) {
          const name = key(ax + (bx - ax) * s / steps, ay + (by - ay) * s / steps);
          if (!cells.has(name)) cells.set(name, new Set());
          cells.get(name).add(c);
        }
      }
    }));
    const distance = (c, x, y) => {
      let least = Infinity;
      for (const line of lines[c]) {
        for (let k = 0; k + 1 < line.length; k++) {
          const [ax, ay] = line[k], dx = line[k + 1][0] - ax, dy = line[k + 1][1] - ay, far = dx * dx + dy * dy;
          const t = far ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / far)) : 0;
          least = Math.min(least, Math.hypot(x - ax - t * dx, y - ay - t * dy));
        }
      }
      return least;
    };
    return (x, y, reach) => {
      let best = -1, least = reach;
      const near = new Set();
      for (let u = Math.floor((x - reach) / size); u <= Math.floor((x + reach) / size); u++) {
        for (let v = Math.floor((y - reach) / size); v <= Math.floor((y + reach) / size); v++) {
          for (const c of cells.get(u + ":" + v) || []) near.add(c);
        }
      }
      for (const c of near) {
        const off = distance(c, x, y);
        if (off < least) { least = off; best = c; }
      }
      return best;
    };
  }

  const step = (value, top) => !(value > 0) ? -1 : Math.min(STEPS - 1, Math.floor(STEPS * value / top));

  const valueOf = (text) => {
    const [above, below] = String(text).split("/");
    const plain = Number(above) / Number(below || 1);
    if (Number.isFinite(plain)) return plain;
    const shift = Math.max(0, Math.max(above.length, (below || "").length) - 300); // longer than a double holds
    return Number(above.slice(0, above.length - shift) || 0) / Number((below || "1").slice(0, (below || "1").length - shift) || 0);
  };

  // A number as a person reads it: 32/5 = 6.4.
  function shown(text) {
    if (!String(text).includes("/")) return String(text);
    const value = Number(valueOf(text).toPrecision(6));
    return text.length > 24 ? "≈ " + value : text + " = " + value;
  }

  // The steps of color with the numbers at their ends.
  function legend(label, loads) {
    const values = loads.map(valueOf), top = Math.max(0, ...values);
    const largest = loads[values.indexOf(top)];
    const box = make("div", { class: "on-legend" });
    box.append(make("span", { class: "on-legend-label" }, label));
    if (!(top > 0)) { box.append(make("span", {}, "no channel is loaded")); return box; }
    const scale = make("span", { class: "on-scale", role: "img", "aria-label": "colors from 0, light, to " + largest });
    for (let k = 0; k < STEPS; k++) {
      const swatch = make("i", { class: "on-swatch on-fill-" + k });
      swatch.title = Number((top * k / STEPS).toPrecision(3)) + " to " + Number((top * (k + 1) / STEPS).toPrecision(3));
      scale.append(swatch);
    }
    const group = (...parts) => { const span = make("span", { class: "on-group" }); span.append(...parts); box.append(span); };
    group(make("span", {}, "0"), scale, make("span", {}, shown(largest)));
    if (values.some((value) => value === 0)) {
      group(make("i", { class: "on-swatch on-fill-idle" }), make("span", {}, "no load"));
    }
    return box;
  }

  root.OblivDrawing = {
    make: make, shape: shape, linesOf: linesOf, ribbon: ribbon, path: path, flow: flow, boxOf: boxOf, locator: locator,
    step: step, valueOf: valueOf, shown: shown, legend: legend, STEPS: STEPS, removedLines: removedLines,
  };
})(typeof globalThis === "undefined" ? this : globalThis);
