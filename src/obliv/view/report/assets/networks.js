"use strict";
/* The networks of the page, and its own check of every proof in it. */
const OblivNetworks = (() => {
  /* Whether the table says what the proof proves: throughput is one over the channel load. */
  function agrees(entry, table) {
    const column = table && table.columns.find(candidate => candidate.name === "worst");
    const k = table ? table.routing.findIndex((routing, at) =>
      routing === entry.routing && table.topology[at] === entry.topology) : -1;
    if (!column || k < 0 || column.value[k] === null || !entry.payload.worst || !entry.payload.worst.load) return true;
    const [above, below] = entry.payload.worst.load.split("/").map(Number);
    return Math.abs(column.value[k] * above / (below || 1) - 1) < 1e-9;
  }

  function verdict(entry, table) {
    if (!entry.payload.proof) return { text: "no proof in this page", holds: null };
    const found = OblivProof.check(entry.payload);
    if (!found.holds || agrees(entry, table)) return found;
    return { holds: false, text: "not proved: the table has another throughput than the proof" };
  }

  function mount(entries, table, element) {
    const place = document.getElementById("network"), buttons = [...document.querySelectorAll("[data-network]")];
    let shown = -1;
    function show(k) {
      if (k === shown) return;
      OblivNetwork[shown < 0 ? "mount" : "update"](place, entries[k].payload);
      shown = k;
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === k));
    }
    buttons.forEach((button, k) => button.addEventListener("click", () => show(k)));
    show(0);
    let k = 0;
    const refused = [];
    /* One proof at a time, so that the page stays responsive. */
    function next() {
      if (k === entries.length) {
        document.documentElement.dataset.proved = `${entries.length - refused.length} of ${entries.length}`;
        return;
      }
      const found = verdict(entries[k], table);
      if (buttons[k]) {
        buttons[k].querySelector("small").textContent = found.holds === null ? "" : found.holds ? `✓ ${found.channels} channels` : "✗ refused";
        buttons[k].classList.toggle("refused", found.holds === false);
        buttons[k].title = found.text;
      }
      if (found.holds === false) {
        refused.push(`${entries[k].name}: ${found.text}`);
        const alarm = document.getElementById("alarm");
        alarm.hidden = false;
        alarm.replaceChildren(element("b", {}, "This page contains a claim that does not hold. "), refused.join("; "));
      }
      k += 1;
      setTimeout(next, 0);
    }
    setTimeout(next, 50);
    return { show, find: (routing, topology) => entries.findIndex(entry =>
      entry.routing === routing && entry.topology === topology) };
  }

  return { mount };
})();
