"use strict";
/* The summary table: sorts, filters, and keeps only the rows in the page that are in view. */
const OblivTable = (() => {
  const PRINTED = 1000, SPARE = 8;
  const collator = new Intl.Collator("en", { numeric: true });

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const EXACT = /^(-?\d+\/\d+) = (-?[\d.e+-]+)$/;
  const FIGURE_SPACE = "\u2007", POINT_SPACE = "\u2008";

  const decimals = text => { const at = text.indexOf("."); return at < 0 ? 0 : text.length - at - 1; };

  /* A number as the page shows it: of an exact one the fraction before its decimals, which stand below each other. */
  function figure(text, digits) {
    const parts = EXACT.exec(text), whole = parts ? parts[2] : text;
    if (!parts && !/^-?[\d.]+$/.test(text)) return [text];
    const missing = (digits || 0) - decimals(whole);
    const padding = missing <= 0 ? "" : (whole.includes(".") ? "" : POINT_SPACE) + FIGURE_SPACE.repeat(missing);
    return [...(parts ? [element("i", {}, parts[1]), " "] : []), whole + padding];
  }

  /* Long names without what all long ones begin with, so that what differs is seen; never the same text for two names. */
  function shortened(names, room) {
    const long = [...new Set(names)].filter(name => name.length > room);
    if (long.length < 2) return names;
    let same = 0;
    while (long.every(name => name.length > same + 6 && name[same] === long[0][same])) same += 1;
    const cut = name => name.length > room && same > 10 ? `${name.slice(0, 6)}…${name.slice(same)}` : name;
    const distinct = new Set(names);
    return new Set([...distinct].map(cut)).size === distinct.size ? names.map(cut) : names;
  }

  function mount(data, open) {
    const get = id => document.getElementById(id);
    const table = get("table"), scroller = get("scroller"), body = table.tBodies[0], filter = get("filter");
    const heads = [...table.tHead.rows[0].cells];
    const count = data.topology.length, phone = matchMedia("(max-width: 640px)");
    const texts = [data.routing, data.topology, ...data.columns.map(column => column.text)];
    const columns = [null, null, ...data.columns];
    let topologies = data.topology;
    const words = data.routing.map((routing, k) =>
      [routing, ...texts.slice(1).map(column => column[k])].join("\n").toLowerCase());
    const digits = data.columns.map(column => column.text.reduce((most, text, k) =>
      column.how[k] === "x" ? Math.max(most, Math.min(4, decimals(text.slice(text.lastIndexOf(" ") + 1)))) : most, 0));
    let order = [...data.routing.keys()], shown = order;
    let sorted = -1, direction = 1, active = 0, first = -1, last = -1, printing = false;

    function widths() {
      const group = element("colgroup"), narrow = phone.matches;
      topologies = shortened(data.topology, narrow ? 16 : 34);
      let all = 0;
      texts.forEach((column, c) => {
        const size = text => { // phones show decimals only
          const at = text.indexOf(" = ");
          return at < 0 ? text.length : narrow ? text.length - at - 3 : text.length - 2;
        };
        const longest = (c === 1 ? topologies : column).reduce((most, text) => Math.max(most, size(text)), heads[c].textContent.length + (narrow ? 3 : 4));
        const width = narrow ? Math.min(longest, c > 1 ? 24 : c ? 40 : 11) * (c === 1 ? 0.58 : 0.52) + (c === 1 ? 1.6 : 1.1) : Math.min(longest, c > 1 ? 34 : c ? 64 : 26) * 0.56 + 2;
        const col = element("col");
        col.style.width = `${width}rem`;
        group.append(col);
        all += width;
      });
      table.querySelectorAll("colgroup").forEach(old => old.remove());
      table.prepend(group);
      table.style.minWidth = `${all}rem`;
      edge();
    }

    /* Columns beyond the right edge are hinted at. */
    function edge() {
      scroller.classList.toggle("beyond", scroller.scrollLeft + scroller.clientWidth < scroller.scrollWidth - 2);
    }

    function row(place) {
      const k = shown[place];
      const button = element("button", { type: "button", class: "open", tabindex: place === active ? 0 : -1 },
        data.routing[k] || "–");
      const made = element("tr", { "aria-rowindex": place + 2 },
        element("th", { scope: "row" }, button), element("td", { title: data.topology[k] }, topologies[k]));
      made.dataset.place = place;
      data.columns.forEach((column, c) => made.append(
        element("td", { class: `how-${column.how[k]}${column.number ? " number" : ""}` }, ...figure(column.text[k], digits[c]))));
      return made;
    }

    const height = () => parseFloat(getComputedStyle(table).getPropertyValue("--row")) || 34;

    function spacer(rows) {
      const cell = element("td", { colspan: heads.length }), made = element("tr", { "aria-hidden": "true", class: "space" }, cell);
      made.style.height = `${rows * height()}px`;
      return made;
    }

    function render(force) {
      const tall = height(), top = Math.floor(scroller.scrollTop / tall);
      const seen = Math.min(200, Math.ceil(scroller.clientHeight / tall) + 1);
      let from = Math.max(0, top - SPARE), to = Math.min(shown.length, top + seen + SPARE);
      if (printing) [from, to] = [0, Math.min(shown.length, PRINTED)];
      const inside = first <= Math.max(0, top) && Math.min(shown.length, top + seen) <= last;
      if (!force && !printing && inside) return;
      const focused = body.contains(document.activeElement);
      [first, last] = [from, to];
      const rows = [];
      if (from && !printing) rows.push(spacer(from));
      for (let place = from; place < to; place += 1) rows.push(row(place));
      if (to < shown.length && !printing) rows.push(spacer(shown.length - to));
      body.replaceChildren(...rows);
      if (focused) (buttonAt(active) || scroller).focus({ preventScroll: true });
    }

    const buttonAt = place => body.querySelector(`tr[data-place="${place}"] button`);

    function update() {
      const test = conditions(filter.value);
      shown = order.filter(test);
      active = 0;
      scroller.scrollTop = 0;
      const all = `${count.toLocaleString("en")} row${count === 1 ? "" : "s"}`;
      get("count").textContent = shown.length === count ? all : `${shown.length.toLocaleString("en")} of ${all}`;
      table.setAttribute("aria-rowcount", shown.length + 1);
      const left = shown.length - PRINTED;
      get("left-out").classList.add("printed");
      get("left-out").textContent = left > 0
        ? `The first ${PRINTED.toLocaleString("en")} rows are printed; ${left.toLocaleString("en")} more are left out. Filter the table to print others.`
        : "";
      render(true);
    }

    /* Return a test of rows: every word occurs in the row, and every comparison of a column holds. */
    function conditions(text) {
      const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map(word => {
        const parts = /^(.+?)(>=|<=|>|<|=)(-?[\d.]+(?:\/\d+)?)$/.exec(word);
        const column = parts && data.columns.find(candidate => candidate.number && candidate.name.toLowerCase() === parts[1]);
        if (!column) return k => words[k].includes(word);
        const [above, below] = parts[3].split("/").map(Number), limit = below ? above / below : above;
        const holds = {
          ">": value => value > limit, ">=": value => value >= limit, "<": value => value < limit,
          "<=": value => value <= limit, "=": value => Math.abs(value - limit) <= 1e-9 * Math.abs(limit),
        }[parts[2]];
        return k => column.value[k] !== null && holds(column.value[k]);
      });
      return k => tests.every(test => test(k));
    }

    function sort(c) {
      direction = c === sorted ? -direction : columns[c] && columns[c].number ? -1 : 1;
      sorted = c;
      const values = columns[c] && columns[c].number ? columns[c].value : null;
      const place = [...data.routing.keys()];
      if (values) {
        place.sort((a, b) => values[a] === values[b] ? a - b
          : values[a] === null ? 1 : values[b] === null ? -1 : direction * (values[a] - values[b]));
      } else {
        const rank = new Map([...new Set(texts[c])].sort(collator.compare).map((text, at) => [text, at]));
        place.sort((a, b) => direction * (rank.get(texts[c][a]) - rank.get(texts[c][b])) || a - b);
      }
      order = place;
      heads.forEach((head, at) => head.setAttribute("aria-sort",
        at !== c ? "none" : direction > 0 ? "ascending" : "descending"));
      update();
    }

    function move(place) {
      if (!shown.length) return;
      active = Math.min(Math.max(place, 0), shown.length - 1);
      const tall = height(), top = active * tall, head = table.tHead.offsetHeight;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (top + tall + head > scroller.scrollTop + scroller.clientHeight) {
        scroller.scrollTop = top + tall + head - scroller.clientHeight;
      }
      render(true);
      const button = buttonAt(active);
      if (button) button.focus({ preventScroll: true });
    }

    heads.forEach((head, c) => head.firstElementChild.addEventListener("click", () => sort(c)));
    filter.addEventListener("input", update);
    scroller.addEventListener("scroll", () => requestAnimationFrame(() => { render(false); edge(); }), { passive: true });
    new ResizeObserver(() => { render(false); edge(); }).observe(scroller);
    body.addEventListener("click", event => {
      const line = event.target.closest("tr[data-place]");
      if (!line) return;
      active = Number(line.dataset.place);
      body.querySelectorAll("button").forEach(button => { button.tabIndex = -1; });
      buttonAt(active).tabIndex = 0;
      buttonAt(active).focus({ preventScroll: true });
      open(shown[active]);
    });
    scroller.addEventListener("keydown", event => {
      const page = Math.max(1, Math.floor(scroller.clientHeight / height()) - 2);
      const inside = body.contains(document.activeElement);
      if (!inside && document.activeElement !== scroller) return;
      const to = { ArrowDown: inside ? active + 1 : active, ArrowUp: active - 1, PageDown: active + page,
        PageUp: active - page, Home: 0, End: shown.length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      move(to);
    });
    addEventListener("beforeprint", () => { printing = true; render(true); });
    addEventListener("afterprint", () => { printing = false; render(true); });
    phone.addEventListener("change", () => { widths(); render(true); });
    widths();
    update();
    return { sort, move, get shown() { return shown.length; } };
  }

  return { mount, element, figure };
})();
