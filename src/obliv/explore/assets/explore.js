// The page: what is shown is one question; the knobs change it, the server answers it part by part.

import { ask, stop } from "./ask.js";
import { button, get, make, save } from "./dom.js";
import * as failures from "./failures.js";
import * as figures from "./figures.js";
import * as rows from "./rows.js";

const PARTS = ["network", "worst", "hops", "traffic", "deadlock", "average"];
const PAUSE = 800; // milliseconds before the proof, which is not worth its time while knobs are turned
const SHOWN = ["topology", "routing", "traffic", "failed", "largest", "scheme", "samples", "seed"];
const start = JSON.parse(document.body.dataset.start);
let question = null, network = null, found = {}, payload = null, named = false, wanted = [], pause = 0;

// -------------------------------------------------------------------------------------------------- asking

function show(next, keep) {
  clearTimeout(pause);
  question = { ...start, ...next };
  found = { problems: {}, traffic: [] };
  network = null;
  fill(question);
  if (!keep) remember(question);
  document.title = `${question.routing} on ${question.topology} – obliv explore`;
  get("title").textContent = `${question.routing} on ${question.topology}`;
  figures.clear(question);
  failures.wait();
  figures.commands({});
  get("drawing").classList.add("stale");
  get("size").textContent = "";
  get("network-problem").hidden = true;
  for (const id of ["topology", "routing"]) get(id).removeAttribute("aria-invalid");
  for (const id of ["claim", "results"]) get(id).disabled = true;
  busy("starting", 0);
  run(PARTS);
}

const asked = () => Object.fromEntries(SHOWN.map((key) => [key, question[key]]));

function run(want) {
  wanted = want;
  ask({ ...asked(), want }, (message) => HEARD[message.kind](message));
}

const HEARD = {
  progress: (message) => busy(figures.TITLES[message.part] + (message.text === "starting" ? " …" : `: ${message.text}`), message.share),
  part: (message) => {
    if (message.part === "network") drawNetwork(message);
    else if (message.part === "names") offerNames(message);
    else if (message.part === "claim") saveClaim(message);
    else if (message.part === "proof") drawLoads(message);
    else {
      if (message.part === "traffic") found.traffic.push(message);
      else found[message.part] = message;
      figures.show(message);
      drawLoads(message);
    }
  },
  error: (message) => {
    if (message.part === "worst") found.problems.worst = message.text;
    if (figures.fail(message, suggest)) return;
    if (message.part === "routing" || message.part === "topology") missing(message);
    else problem(message.text);
  },
  replaced: () => {},
  end: () => {
    idle("");
    if (wanted !== PARTS) return;
    figures.drop("–");
    get("said").textContent = found.worst ? `Done: ${figures.inShort(found.worst.result)}` : "Done, without a worst case";
    if (found.worst || found.problems.worst) rows.add(asked(), network, found);
    for (const id of ["claim", "results"]) get(id).disabled = !found.worst;
    const later = [...(named ? [] : ["names"]), ...(found.worst && found.worst.payload ? ["proof"] : [])];
    if (later.length) pause = setTimeout(() => run(later), PAUSE);
  },
};

function busy(text, share) {
  get("status").classList.add("busy");
  get("doing").textContent = text;
  get("share").value = share;
  get("stop").disabled = false;
}

function idle(text) {
  get("status").classList.remove("busy");
  get("doing").textContent = text;
  get("stop").disabled = true;
}

// Without the topology or the routing there is nothing else.
function missing(message) {
  found.problems.worst = message.text;
  get(message.part).setAttribute("aria-invalid", "true");
  figures.replace(message.part === "routing" ? message : { ...message, text: "" }, suggest);
  if (message.part === "routing") return;
  problem(message.text);
  failures.list(question.failed.map((text) => ({ text, name: text })));
  if (!question.failed.length) get("drawing").replaceChildren(); // of another network
}

function problem(text) {
  const place = get("network-problem");
  place.hidden = false;
  place.replaceChildren(text, ...figures.hints(text, suggest));
  if (text.includes("component=largest") && question.failed.length) {
    place.append(" ", button("Go on with the largest", () => { get("breaking").focus(); show({ ...asked(), largest: true }); }));
  }
}

// Replaces the name that was misspelled by the one that was meant, with the same arguments.
function suggest(kind, name) {
  const next = asked();
  const renamed = (spec) => name + (spec.includes(":") ? spec.slice(spec.indexOf(":")) : "");
  if (kind === "traffic") {
    const wrong = question.traffic.find((spec) => !found.traffic.some((each) => each.name === spec));
    next.traffic = question.traffic.map((spec) => (spec === wrong ? renamed(spec) : spec));
  } else next[kind] = renamed(question[kind]);
  show(next);
}

// ------------------------------------------------------------------------------------------------- showing

function drawNetwork(message) {
  network = message;
  Object.assign(question, { topology: message.base, failed: message.failed.map((each) => each.text),
    largest: message.largest });
  fill(question);
  get("title").textContent = `${question.routing} on ${message.spec}`;
  get("size").textContent = [`${message.nodes} nodes, ${message.terminals} terminals, ${message.channels} channels`,
    ...message.notes].join("; ");
  figures.commands(message.commands);
  failures.show(message);
  get("drawing").classList.remove("stale");
  if (message.payload) draw(message.payload);
  else get("drawing").replaceChildren(make("p", { class: "hint" }, message.payload_reason || ""));
}

function draw(next) {
  payload = next;
  OblivNetwork.update(get("drawing"), payload);
}

// Colors channels by the loads of a part that has come.
function drawLoads(message) {
  if (!network || !network.payload) return;
  const views = (message.payload || payload).views.filter((each) => each.kind !== "uniform" && each.kind !== "traffic");
  if (message.payload || message.loads) {
    draw({ ...(message.payload || payload), views: [...views, ...found.traffic.filter((each) => each.loads).map(view)] });
  }
}

const label = (message) => `load under ${message.name}`;
const view = (message) => ({ kind: "traffic", label: label(message), loads: message.loads });

function offerNames(message) {
  named = true;
  const offer = (id, list) => get(id).replaceChildren(...list.map(([example, text]) => make("option", { value: example }, text)));
  offer("topologies", message.topologies);
  offer("routings", message.routings);
  offer("patterns", message.traffic);
  const scheme = get("scheme");
  scheme.replaceChildren(...message.schemes.map((name) => make("option", {}, name)));
  scheme.value = question.scheme;
}

function saveClaim(message) {
  save("claim.json", message.text, "application/json"); // not parsed: its digest covers every digit
  get("saved").textContent = `Saved as claim.json; check it with  obliv verify claim.json`;
}

// ------------------------------------------------------------------------------------------------- knobs

function fill(shown) {
  for (const key of ["topology", "routing", "samples", "seed", "scheme"]) get(key).value = shown[key];
  if (get("scheme").value !== shown.scheme) {
    get("scheme").append(make("option", {}, shown.scheme));
    get("scheme").value = shown.scheme;
  }
  get("traffic").replaceChildren(...shown.traffic.map((spec) => make("li", {}, spec,
    button("×", () => { get("pattern").focus(); show({ ...asked(), traffic: question.traffic.filter((other) => other !== spec) }); },
      { "aria-label": `Remove the traffic ${spec}` }))));
}

function turned() {
  const whole = (id) => Math.max(0, Math.min(10_000_000, Math.floor(Number(get(id).value)) || 0));
  const next = { ...asked(), topology: get("topology").value.trim(), routing: get("routing").value.trim(),
    scheme: get("scheme").value, samples: whole("samples"), seed: whole("seed") };
  if (next.topology !== question.topology) Object.assign(next, { failed: [], largest: false });
  if (JSON.stringify(next) !== JSON.stringify(asked())) show(next);
}

function addPattern() {
  const spec = get("pattern").value.trim();
  get("pattern").value = "";
  if (spec && !question.traffic.includes(spec)) show({ ...asked(), traffic: [...question.traffic, spec] });
}

// The address holds what is shown, so that Back, Forward and a bookmark bring it again.
function remember(shown) {
  const text = "#" + encodeURIComponent(JSON.stringify(Object.fromEntries(SHOWN.map((key) => [key, shown[key]]))));
  if (location.hash !== text) history.pushState(null, "", text);
}

function remembered() {
  try {
    const data = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const kind = (value) => (Array.isArray(value) && value.every((each) => typeof each === "string") ? "texts" : typeof value);
    return Object.fromEntries(SHOWN.filter((key) => kind(data[key]) === kind(start[key])).map((key) => [key, data[key]]));
  } catch {
    return {};
  }
}

function listen() {
  get("knobs").addEventListener("submit", (event) => { event.preventDefault(); addPattern(); turned(); });
  for (const id of ["topology", "routing", "scheme", "samples", "seed"]) get(id).addEventListener("change", turned);
  get("pattern").addEventListener("change", addPattern);
  get("add").addEventListener("click", addPattern);
  get("stop").addEventListener("click", () => { stop(); idle("stopped"); figures.drop("stopped"); });
  get("claim").addEventListener("click", () => { clearTimeout(pause); busy("Claim", 0); run(["claim"]); });
  get("results").addEventListener("click", () => {
    const parts = [found.worst, found.hops, ...found.traffic, found.deadlock, found.average].filter(Boolean);
    save("results.json", JSON.stringify({ kind: "results", results: parts.map((part) => part.result) }, null, 1) + "\n", "application/json");
    get("saved").textContent = "Saved as results.json; make a page of it with  obliv report results.json -o report.html";
  });
  window.addEventListener("popstate", () => show(remembered(), true));
}

listen();
rows.start((state) => show(state));
failures.start(
  (text) => show({ ...asked(), failed: [...question.failed, text] }),
  (failed) => show({ ...asked(), failed, largest: failed.length > 0 && question.largest }),
);
show(remembered(), true);
