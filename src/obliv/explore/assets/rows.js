// What was tried: one row for each combination, kept while the tab is open.

import { button, get, make, save } from "./dom.js";
import { number } from "./figures.js";

const KEY = "obliv-explore-rows", MOST = 200;
const COLUMNS = [
  ["topology", "Topology"], ["removed", "Removed"], ["routing", "Routing"], ["load", "Worst load"],
  ["throughput", "Guaranteed"], ["capacity", "Of capacity"], ["average", "Average"], ["traffic", "Traffic"],
  ["hops", "Hops"], ["deadlock", "Deadlock"],
];
let rows = [], again = () => {};

export function start(show) {
  again = show;
  try {
    rows = JSON.parse(sessionStorage.getItem(KEY)) || [];
  } catch {
    rows = [];
  }
  get("heads").append(make("th", { scope: "col" }, make("span", { class: "unseen" }, "Bring back")),
    ...COLUMNS.map(([, title]) => make("th", { scope: "col" }, title)));
  get("clear").addEventListener("click", () => { rows = []; draw(); });
  get("csv").addEventListener("click", () => save("tried.csv", csv(), "text/csv"));
  draw();
}

// Adds the row of a question, or replaces it.
export function add(question, network, found) {
  const worst = found.worst && found.worst.result, average = found.average && found.average.result;
  const deadlock = found.deadlock && found.deadlock.result, hops = found.hops && found.hops.result;
  const state = { ...question };
  delete state.want;
  const row = {
    state, topology: network ? network.base : question.topology,
    removed: (network ? network.failed.map((each) => each.name) : question.failed).join("; "),
    routing: question.routing,
    load: worst ? number(worst.channel_load) : reason(found.problems, "worst"),
    throughput: worst ? number(worst.throughput) : "–",
    capacity: worst ? number(worst.fraction_of_capacity) : "–",
    average: average ? number(average.throughput) : "–",
    traffic: (found.traffic || []).map((each) => `${each.name}: ${number(each.result.patterns[0].throughput)}`).join("; ") || "–",
    hops: hops ? number(hops.hops) : "–",
    deadlock: deadlock ? (deadlock.acyclic ? "free" : "cycle of " + deadlock.cycle.length)
      + (deadlock.scheme === "none" ? "" : `, ${deadlock.scheme}`) : "–",
  };
  const same = JSON.stringify(state);
  rows = [row, ...rows.filter((other) => JSON.stringify(other.state) !== same)].slice(0, MOST);
  draw();
}

const reason = (problems, part) => {
  const text = problems && problems[part];
  return text ? (text.length > 60 ? text.slice(0, 57) + "…" : text) : "–";
};

function draw() {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(rows));
  } catch { /* the table then lasts as long as the page */ }
  get("rows").replaceChildren(...rows.map((row) => make("tr", {},
    make("td", {}, button("Show", () => again(row.state), { "aria-label": `Show ${row.routing} on ${row.topology} ${row.removed} again` })),
    ...COLUMNS.map(([key]) => make("td", {}, row[key])))));
  if (!rows.length) {
    get("rows").append(make("tr", {}, make("td", { colspan: COLUMNS.length + 1, class: "hint" }, "nothing yet")));
  }
  for (const id of ["csv", "clear"]) get(id).disabled = !rows.length;
}

// A cell that a spreadsheet would take for a formula is written as text.
const cell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const csv = () => [COLUMNS.map(([, title]) => title), ...rows.map((row) => COLUMNS.map(([key]) => row[key]))]
  .map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
