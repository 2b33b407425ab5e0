"use strict";
// What is known about one channel: its loads, its worst traffic, and the pairs that cross it.
(function (root) {
  const LISTED = 100; // pairs
  const WHOLE = 1024; // terminals of a permutation
  const SQUARE = 128, CELLS = 8000; // terminals and pairs of a matrix

  // The pairs of a channel's worst traffic that cross it, the heaviest first: [source, destination, load, its text].
  function worstPairs(state, c) {
    const payload = state.payload, draw = root.OblivDrawing;
    if (state.loads) {
      const rows = state.own ? state.own[c] : state.traffic;
      const pairs = [];
      for (const [from, to, amount] of rows) {
        const weight = state.weight(c, from, to);
        if (weight > 0n) {
          const text = ratio(amount[0] * weight * state.speed(c)[1], amount[1] * state.loads.denominator * state.speed(c)[0]);
          pairs.push([from, to, draw.valueOf(text), text]);
        }
      }
      return pairs.sort((one, two) => two[2] - one[2]);
    }
    if (payload.worst && payload.worst.channel === c) {
      return payload.worst.pairs.map(([from, to, load]) => [from, to, load, String(Number(load.toPrecision(6)))]);
    }
    return null;
  }

  function ratio(above, below) {
    let [a, b] = [above, below];
    while (b) [a, b] = [b, a % b];
    return below / a === 1n ? String(above / a) : above / a + "/" + below / a;
  }

  const nameOf = (payload, terminal) => payload.nodes[payload.terminals[terminal]].name;

  function ends(payload, c) {
    const channel = payload.channels[c], ports = channel.ports || ["", ""];
    const end = (node, port) => payload.nodes[node].name + (port ? " " + port : "");
    return end(channel.tail, ports[0]) + " → " + end(channel.head, ports[1]);
  }

  // The text of a channel for a screen reader.
  function label(payload, view, c) {
    const load = view ? ", load " + view.loads[c] : "";
    const worst = payload.worst && payload.worst.channel === c ? ", the worst channel" : "";
    return "channel " + c + ", " + ends(payload, c).replace("→", "to") + load + worst;
  }

  function show(state, box, c) {
    const payload = state.payload, draw = root.OblivDrawing, make = draw.make;
    box.replaceChildren();
    if (c < 0) {
      box.append(make("p", { class: "on-hint" }, "Point at a channel, or press Tab and then the arrow keys."));
      return;
    }
    const channel = payload.channels[c], worst = payload.worst && payload.worst.channel === c;
    box.append(make("h3", {}, "Channel " + c + (worst ? " (worst)" : "")), make("p", { class: "on-ends" }, ends(payload, c)));
    const facts = make("dl", {});
    const fact = (name, text) => facts.append(make("dt", {}, name), make("dd", {}, text));
    for (const view of payload.views) fact(view.short || view.label, draw.shown(view.loads[c]));
    if (worst && payload.worst.load === null) fact("worst load", payload.worst.text);
    if (channel.bandwidth !== "1") fact("bandwidth", draw.shown(channel.bandwidth));
    if (state.loads) {
      const crossing = state.loads.channels[c].reduce((sum, part) => sum + part.row.to.length, 0);
      const n = payload.terminals.length;
      fact("pairs that can cross it", crossing.toLocaleString("en") + " of " + (n * n).toLocaleString("en"));
    }
    box.append(facts);
    const pairs = worstPairs(state, c);
    if (pairs === null) {
      if (payload.crossing_reason) box.append(make("p", { class: "on-hint" }, "Pairs are not listed: " + payload.crossing_reason + "."));
    } else box.append(list(state, c, pairs));
    if (worst && payload.worst.permutation) box.append(wholePermutation(payload));
    if (state.loads && payload.terminals.length <= SQUARE) box.append(...matrix(state, c, pairs || []));
  }

  // The whole worst permutation; the pairs that do not cross the worst channel are arbitrary.
  function wholePermutation(payload) {
    const make = root.OblivDrawing.make, fold = make("details", {}), image = payload.worst.permutation;
    const some = image.slice(0, WHOLE).map((to, from) => nameOf(payload, from) + " → " + nameOf(payload, to));
    if (image.length > WHOLE) some.push("and " + (image.length - WHOLE) + " more");
    fold.append(make("summary", {}, "The whole permutation"), make("p", { class: "on-whole", tabindex: "0" }, some.join(", ")));
    return fold;
  }

  // The pairs that can cross a channel as a square, its worst traffic outlined; sources are rows.
  function matrix(state, c, pairs) {
    const { shape, make, step, STEPS } = root.OblivDrawing, n = state.payload.terminals.length;
    const cells = [];
    for (const { from, row } of state.loads.channels[c]) {
      row.to.forEach((to, k) => cells.push([from, to, Number(row.value[k])]));
    }
    if (cells.length > CELLS || cells.length === 0) return [];
    const top = cells.reduce((most, cell) => Math.max(most, cell[2]), 0);
    const outlines = new Array(STEPS).fill(""), name = "Pairs that can cross it: rows are sources, columns destinations";
    for (const [from, to, value] of cells) outlines[step(value, top)] += "M" + to + " " + from + "h1v1h-1z";
    const square = shape("svg", { class: "on-matrix", viewBox: "0 0 " + n + " " + n, role: "img", "aria-label": name });
    square.append(shape("rect", { class: "on-ground", width: n, height: n }));
    outlines.forEach((d, k) => { if (d) square.append(shape("path", { class: "on-fill-" + k, d: d })); });
    square.append(shape("path", { class: "on-chosen", d: pairs.map(([from, to]) => "M" + to + " " + from + "h1v1h-1z").join("") }));
    const figure = make("figure", {});
    figure.append(square, make("figcaption", {}, name + (pairs.length ? "; outlined: its worst traffic" : "")));
    return [figure];
  }

  // The table of pairs.
  function list(state, c, pairs) {
    const payload = state.payload, make = root.OblivDrawing.make;
    const title = state.own || (payload.worst && payload.worst.channel === c)
      ? "Pairs of its worst traffic that cross it" : "Pairs of the worst traffic that cross it";
    const scroll = make("div", { class: "on-pairs", tabindex: "0", role: "region", "aria-label": title });
    const table = make("table", {});
    table.append(make("caption", {}, title + " (" + pairs.length + ")"));
    const head = make("tr", {});
    for (const name of ["source", "destination", "load"]) head.append(make("th", { scope: "col" }, name));
    const body = make("tbody", {}), top = make("thead", {});
    top.append(head);
    for (const [from, to, , text] of pairs.slice(0, LISTED)) {
      const row = make("tr", {});
      row.append(make("td", {}, nameOf(payload, from)), make("td", {}, nameOf(payload, to)), make("td", {}, text));
      body.append(row);
    }
    table.append(top, body);
    scroll.append(table);
    if (pairs.length > LISTED) scroll.append(make("p", {}, "and " + (pairs.length - LISTED) + " more"));
    return scroll;
  }

  root.OblivDetails = { show: show, worstPairs: worstPairs, label: label, ends: ends };
})(typeof globalThis === "undefined" ? this : globalThis);
