"use strict";
/* The page: its parts, print, the details of a row. Everything from names and specs is text, never markup. */
(() => {
  const get = id => document.getElementById(id);
  const block = name => { const found = get(`${name}-data`); return found && JSON.parse(found.textContent); };
  const { element, figure } = OblivTable;

  const table = block("table"), dialog = get("details");
  function open(k) {
    const where = table.routing[k] ? `${table.routing[k]} on ${table.topology[k]}` : table.topology[k];
    get("details-title").textContent = where;
    get("details-body").replaceChildren(...table.details[k].map(([name, lines, how, input]) => {
      const list = element("dl");
      lines.forEach(([label, text]) => list.append(element("dt", {}, label), element("dd", {}, ...figure(text))));
      const source = [how, table.inputs.length > 1 ? `from ${table.inputs[input]}` : ""].filter(Boolean).join("; ");
      return element("section", {}, element("h3", {}, name), list, element("p", { class: "source" }, source));
    }));
    const at = networks ? networks.find(table.routing[k], table.topology[k]) : -1;
    if (at >= 0) {
      const button = element("button", { type: "button", class: "more" }, "Show its network");
      button.addEventListener("click", () => {
        dialog.close();
        networks.show(at);
        get("networks").scrollIntoView();
        get("network").querySelector("select, button").focus({ preventScroll: true });
      });
      get("details-body").prepend(button);
    }
    dialog.showModal();
    get("details-body").parentElement.scrollTop = 0;
  }
  /* Paper is light, and has what is folded away. */
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: document.documentElement.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
    document.documentElement.dataset.theme = "light";
    before.closed.forEach(part => { part.open = true; });
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = before.theme;
    before.closed.forEach(part => { part.open = false; });
    before = null;
  });

  const drawn = block("networks"), networks = drawn && OblivNetworks.mount(drawn, table, element);
  if (table) OblivTable.mount(table, open);
  const charts = block("charts");
  if (charts) OblivCharts.mount(charts, element).then(views => { document.documentElement.dataset.ready = Object.keys(views).length; });
  else document.documentElement.dataset.ready = 0;
  get("details-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
})();
