"use strict";
// A network with its loads as color.
//
//   OblivNetwork.mount(element, payload)    draw it inside an element
//   OblivNetwork.update(element, payload)   replace what is drawn there
//
// Pointing at a channel, or focusing it with Tab and the arrow keys, shows its loads, its worst traffic and the pairs
// that cross it; the element then gets an event "obliv-channel".  Names come from files of others: they are set as text
// only.  What `payload.removed` holds, nodes and lines of channels, is drawn as a faint trace.
(function (root) {
  const SINGLE = 1500; // channels; those of larger networks are drawn together, one shape for each color
  const REACH = 14; // pixels from the pointer to a channel
  const DRAWN = 150; // pairs
  const THIN = 0.03, WIDE = 0.11, IDLE = 0.012; // of ribbons
  const states = new WeakMap();

  function mount(element, payload) {
    if (payload.version !== 1) {
      element.textContent = "This network was written by another version of obliv.";
      return;
    }
    const state = prepared(element, payload);
    states.set(element, state);
    element.replaceChildren();
    element.classList.add("obliv-network");
    build(state);
    paint(state);
    choose(state, payload.worst ? payload.worst.channel : -1);
    prove(state);
  }

  function update(element, payload) {
    const before = states.get(element);
    mount(element, payload);
    if (!before || before.payload.topology !== payload.topology) return;
    const state = states.get(element);
    state.zoom = before.zoom;
    look(state);
    if (before.pinned) choose(state, before.chosen, true);
  }

  function prepared(element, payload) {
    const draw = root.OblivDrawing, proof = root.OblivProof;
    const lines = payload.channels.map((channel) => draw.linesOf(payload, channel));
    const box = draw.boxOf(payload, lines);
    const state = {
      element: element, payload: payload, lines: lines, box: box, view: payload.views[0] || null, chosen: -1,
      nearest: draw.locator(lines, box), zoom: { scale: 1, x: box.x, y: box.y }, single: lines.length <= SINGLE,
      loads: null, own: null, traffic: [], pinned: false, circles: [], ends: [], letters: 0,
    };
    const maps = new Map();
    state.speed = (c) => proof.fraction(payload.channels[c].bandwidth);
    state.weight = (c, from, to) => {
      if (!maps.has(c)) maps.set(c, new Map(state.loads.channels[c].map((part) => [part.from, part.row])));
      const row = maps.get(c).get(from), k = row ? row.to.indexOf(to) : -1;
      return k < 0 ? 0n : row.value[k];
    };
    try {
      if (payload.crossing) state.loads = proof.loads(payload);
      if (payload.own && state.loads) state.own = proof.ownPairs(payload);
      if (payload.worst && payload.worst.permutation) {
        state.traffic = payload.worst.permutation.map((to, from) => [from, to, [1n, 1n]]);
      } else if (payload.worst && payload.worst.traffic) {
        state.traffic = payload.worst.traffic.map(([from, to, amount]) => [from, to, proof.fraction(amount)]);
      }
    } catch (error) {
      state.loads = state.own = null; // the line of the proof says what is wrong
    }
    return state;
  }

  // The elements that stay: controls, picture, panel, legend, proof.
  function build(state) {
    const { make, shape } = root.OblivDrawing, payload = state.payload, parts = (state.parts = {});
    const title = (payload.routing ? payload.routing + " on " : "") + payload.topology;
    const controls = make("div", { class: "on-controls" });
    controls.append(make("span", { class: "on-title" }, title));
    if (payload.views.length > 1) {
      const label = make("label", { class: "on-choice" }, "Color: "), select = make("select", {});
      payload.views.forEach((view, k) => select.append(make("option", { value: k }, view.label)));
      select.addEventListener("change", () => { state.view = payload.views[Number(select.value)]; paint(state); });
      label.append(select);
      controls.append(label);
    }
    const buttons = make("span", { class: "on-zoom" });
    for (const [text, name, factor] of [["+", "Zoom in", 1.5], ["−", "Zoom out", 1 / 1.5], ["Fit", "Show all", 0]]) {
      const button = make("button", { type: "button", "aria-label": name }, text);
      button.addEventListener("click", () => zoom(state, factor));
      buttons.append(button);
    }
    controls.append(buttons);
    parts.svg = shape("svg", { class: "on-picture", role: "group", "aria-label": "Network " + title,
      preserveAspectRatio: "xMidYMid meet" });
    parts.channels = shape("g", { class: "on-channels", role: "listbox", "aria-label":
      "Channels of " + payload.topology + "; arrow keys: next and previous channel, up and down: heavier and lighter" });
    parts.flows = shape("g", { class: "on-flows", "aria-hidden": "true" });
    parts.nodes = shape("g", { class: "on-nodes", "aria-hidden": "true" });
    parts.mark = shape("path", { class: "on-mark", "aria-hidden": "true" });
    parts.panel = make("section", { class: "on-panel", "aria-label": "The chosen channel" });
    parts.live = make("p", { class: "on-live", "aria-live": "polite" });
    parts.legend = make("div", {});
    parts.proof = make("p", { class: "on-proof", role: "status" });
    parts.claim = make("p", { class: "on-claim" });
    const picture = make("div", { class: "on-frame" });
    parts.svg.append(traces(payload), parts.channels, parts.mark, parts.flows, parts.nodes);
    picture.append(parts.svg, parts.legend, parts.proof, parts.claim);
    const body = make("div", { class: "on-body" });
    body.append(picture, parts.panel);
    state.element.append(controls, body, parts.live);
    drawNodes(state);
    look(state);
    listen(state);
  }

  // What was removed from the network.
  function traces(payload) {
    const { shape, path, removedLines } = root.OblivDrawing, group = shape("g", { class: "on-removed", "aria-hidden": "true" });
    const lines = removedLines(payload);
    if (lines.length) group.append(shape("path", { d: path(lines) }));
    for (const node of payload.removed ? payload.removed.nodes : []) {
      const circle = shape("circle", { cx: node.x, cy: node.y, r: payload.radius });
      circle.append(shape("title", {}, node.name + ", removed"));
      group.append(circle);
    }
    return group;
  }

  function drawNodes(state) {
    const { shape } = root.OblivDrawing, { payload, parts } = state, radius = payload.radius;
    const many = payload.nodes.length > SINGLE;
    const short = payload.nodes.map((node) => node.short || node.name);
    const longest = short.reduce((most, name) => Math.max(most, name.length), 1);
    const size = Math.min(0.2, 2 * radius * 0.9 / (0.58 * longest));
    state.letters = many ? 0 : size;
    payload.nodes.forEach((node, v) => {
      const circle = shape("circle", { cx: node.x, cy: node.y, r: many ? 0.6 * radius : radius,
        class: node.terminal === null ? "on-node on-switch" : "on-node" });
      circle.append(shape("title", {}, node.name));
      parts.nodes.append(circle);
      state.circles.push(circle);
      if (!many) {
        parts.nodes.append(shape("text", { x: node.x, y: node.y, "font-size": size.toFixed(3), dy: "0.34em",
          class: node.terminal === null ? "on-name on-switch" : "on-name" }, short[v]));
      }
    });
  }

  // Draws the channels in the colors of the chosen loads.
  function paint(state) {
    const { shape, ribbon, path, step, valueOf, legend } = root.OblivDrawing, { payload, parts, view } = state;
    const values = view ? view.loads.map(valueOf) : payload.channels.map(() => 0);
    const top = Math.max(...values, 0), order = values.map((_, c) => c).sort((a, b) => values[a] - values[b] || a - b);
    state.order = order;
    state.place = new Map(order.map((c, k) => [c, k]));
    const unit = (parts.svg.clientWidth || 600) / state.box.w, thin = Math.max(THIN, 0.7 / unit);
    state.widthOf = (c) => !(values[c] > 0) ? (view ? Math.max(IDLE, 0.4 / unit) : 0.025)
      : thin + (Math.max(WIDE, 1.6 * thin) - thin) * values[c] / top;
    parts.channels.replaceChildren();
    state.items = [];
    if (state.single) {
      for (const c of order) {
        const kind = step(values[c], top);
        const item = shape("path", { class: "on-channel on-fill-" + (kind < 0 ? "idle" : kind), role: "option",
          "aria-selected": "false", "aria-label": root.OblivDetails.label(payload, view, c), tabindex: "-1",
          d: state.lines[c].map((line) => ribbon(line, state.widthOf(c))).join("") });
        item.channel = c;
        state.items[c] = item;
        parts.channels.append(item);
      }
    } else {
      for (let kind = -1; kind < root.OblivDrawing.STEPS; kind++) {
        const lines = order.filter((c) => step(values[c], top) === kind).flatMap((c) => state.lines[c]);
        if (lines.length) {
          parts.channels.append(shape("path", { class: "on-together on-line-" + (kind < 0 ? "idle" : kind),
            role: "presentation", d: path(lines) }));
        }
      }
      state.proxy = shape("path", { class: "on-proxy", role: "option", "aria-selected": "true", tabindex: "0" });
      parts.channels.append(state.proxy);
    }
    parts.legend.replaceChildren(...(view ? [legend(view.label, view.loads)] : []));
    const worst = payload.worst ? payload.worst.channel : -1;
    if (state.items[worst]) state.items[worst].classList.add("on-worst");
    if (state.chosen >= 0) choose(state, state.chosen, state.pinned);
    else rove(state, order[order.length - 1]);
  }

  // The one channel that Tab reaches.
  function rove(state, c) {
    if (c === undefined) return;
    const item = state.items[state.roving];
    if (item) { item.setAttribute("tabindex", "-1"); item.setAttribute("aria-selected", "false"); }
    state.roving = c;
    if (state.items[c]) state.items[c].setAttribute("tabindex", "0");
  }

  function choose(state, c, pinned) {
    const { ribbon, flow, shape } = root.OblivDrawing, { payload, parts } = state;
    state.chosen = c;
    state.pinned = Boolean(pinned);
    state.element.dispatchEvent(new CustomEvent("obliv-channel", { detail: { channel: c, pinned: state.pinned } }));
    root.OblivDetails.show(state, parts.panel, c);
    parts.flows.replaceChildren();
    for (const node of state.ends) state.circles[node].classList.remove("on-end");
    state.ends = [];
    if (c < 0) { parts.mark.setAttribute("d", ""); return; }
    rove(state, c);
    if (state.items[c]) state.items[c].setAttribute("aria-selected", "true");
    if (state.proxy) {
      state.proxy.setAttribute("aria-label", root.OblivDetails.label(payload, state.view, c));
      state.proxy.setAttribute("d", root.OblivDrawing.path(state.lines[c]));
      if (state.element.contains(document.activeElement)) parts.live.textContent = state.proxy.getAttribute("aria-label");
    }
    const width = state.single ? state.widthOf(c) : 4 / ((parts.svg.clientWidth || 600) / state.box.w);
    parts.mark.setAttribute("d", state.lines[c].map((line) => ribbon(line, Math.max(width, 0.05))).join(""));
    state.ends = [payload.channels[c].tail, payload.channels[c].head];
    for (const node of state.ends) state.circles[node].classList.add("on-end");
    const pairs = (root.OblivDetails.worstPairs(state, c) || []).slice(0, DRAWN);
    const most = pairs.reduce((top, pair) => Math.max(top, pair[2]), 0);
    for (const [from, to, load] of pairs.reverse()) {
      const start = payload.nodes[payload.terminals[from]], end = payload.nodes[payload.terminals[to]];
      parts.flows.append(shape("path", { class: "on-flow on-share-" + Math.min(3, Math.floor(4 * load / most)),
        d: ribbon(flow(payload, start, end), 0.018 + 0.03 * load / most) }));
    }
  }

  // The part of the picture that is seen.
  function look(state) {
    const { box, zoom: at, parts } = state;
    parts.svg.setAttribute("viewBox", [at.x, at.y, box.w / at.scale, box.h / at.scale].join(" "));
    parts.svg.classList.toggle("on-zoomed", at.scale > 1);
    const size = parts.svg.getBoundingClientRect(), unit = Math.min(size.width / box.w, size.height / box.h) || 60;
    parts.svg.classList.toggle("on-nameless", state.letters * unit * at.scale < 4.5);
  }

  function zoom(state, factor, about) {
    const { box, zoom: at } = state, before = at.scale;
    at.scale = factor ? Math.min(60, Math.max(1, before * factor)) : 1;
    const middle = about || [at.x + box.w / before / 2, at.y + box.h / before / 2];
    at.x = middle[0] - (middle[0] - at.x) * before / at.scale;
    at.y = middle[1] - (middle[1] - at.y) * before / at.scale;
    keep(state);
  }

  function keep(state) {
    const { box, zoom: at } = state;
    at.x = Math.min(Math.max(at.x, box.x), box.x + box.w * (1 - 1 / at.scale));
    at.y = Math.min(Math.max(at.y, box.y), box.y + box.h * (1 - 1 / at.scale));
    look(state);
  }

  // Where the pointer is, in the units of the picture, and the length of a pixel.
  function place(state, event) {
    const matrix = state.parts.svg.getScreenCTM();
    if (!matrix) return null;
    return [(event.clientX - matrix.e) / matrix.a, (event.clientY - matrix.f) / matrix.d, 1 / matrix.a];
  }

  function listen(state) {
    const svg = state.parts.svg, fingers = new Map();
    let moved = false, gap = 0;
    const pick = (event, pinned) => {
      const at = place(state, event), c = at ? state.nearest(at[0], at[1], REACH * at[2]) : -1;
      if (c >= 0 && (c !== state.chosen || pinned)) choose(state, c, pinned);
    };
    svg.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event); moved = false; gap = 0; });
    svg.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId), at = place(state, event);
      if (!last) { pick(event, false); return; }
      fingers.set(event.pointerId, event);
      if (fingers.size === 2) {
        const [one, two] = [...fingers.values()], now = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
        if (gap) zoom(state, now / gap, at);
        gap = now;
        moved = true;
      } else if (state.zoom.scale > 1 && at) {
        const dx = event.clientX - last.clientX, dy = event.clientY - last.clientY;
        if (Math.abs(dx) + Math.abs(dy) > 0) moved = true;
        state.zoom.x -= dx * at[2];
        state.zoom.y -= dy * at[2];
        keep(state);
      }
    });
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => {
        if (name === "pointerup" && !moved) pick(event, true);
        fingers.delete(event.pointerId);
      });
    }
    svg.addEventListener("wheel", (event) => { // the page scrolls unless Ctrl is held, as a pinch does
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(state, Math.exp(-event.deltaY / 200), place(state, event));
    }, { passive: false });
    state.parts.channels.addEventListener("focusin", (event) => {
      if (event.target.channel !== undefined && event.target.channel !== state.chosen) choose(state, event.target.channel, true);
    });
    state.parts.channels.addEventListener("keydown", (event) => keyed(state, event));
  }

  function keyed(state, event) {
    const count = state.payload.channels.length, c = state.chosen < 0 ? state.order[count - 1] : state.chosen;
    const rank = state.place.get(c), near = (by) => state.order[Math.min(count - 1, Math.max(0, rank + by))];
    const targets = {
      ArrowRight: () => (c + 1) % count, ArrowLeft: () => (c + count - 1) % count,
      ArrowUp: () => near(1), ArrowDown: () => near(-1), Home: () => near(count), End: () => near(-count),
    };
    if (event.key === "+" || event.key === "-" || event.key === "0") {
      const line = state.lines[c][0];
      zoom(state, { "+": 1.5, "-": 1 / 1.5, 0: 0 }[event.key], line[Math.floor(line.length / 2)]);
    } else if (targets[event.key]) {
      choose(state, targets[event.key](), true);
      const item = state.items[state.chosen] || state.proxy;
      item.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  }

  // The script's own check, once the picture is there.
  function prove(state) {
    const { payload, parts } = state;
    parts.proof.className = "on-proof";
    if (!payload.proof) {
      parts.proof.textContent = payload.routing && payload.proof_reason ? "No proof in this page: " + payload.proof_reason + "." : "";
      return;
    }
    parts.proof.textContent = "Checking the proof …";
    root.setTimeout(() => {
      const verdict = root.OblivProof.check(payload);
      if (states.get(state.element) !== state) return;
      state.verdict = verdict;
      parts.proof.classList.add(verdict.holds ? "on-proved" : "on-refused");
      parts.proof.textContent = (verdict.holds ? "✓ " : "✗ ") + verdict.text;
      const most = root.OblivDrawing.shown(payload.proof.claim);
      parts.claim.textContent = !verdict.holds ? "" : payload.proof.kind === "ratio"
        ? "No traffic loads a channel by more than " + most + " times what the best routing of it does."
        : "No admissible traffic loads a channel by more than " + most + ".";
    }, 0);
  }

  root.OblivNetwork = { mount: mount, update: update };
})(typeof globalThis === "undefined" ? this : globalThis);
