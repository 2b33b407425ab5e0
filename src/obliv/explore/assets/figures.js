// The figures of one network and routing, part by part, as the command line prints them.

import { button, copy, get, make } from "./dom.js";

export const TITLES = {
  network: "Network", worst: "Worst case", traffic: "Throughput", hops: "Hops", deadlock: "Deadlock",
  average: "Average", claim: "Claim", names: "Names of networks and routings", proof: "Proof in the page",
};
const BLOCKS = ["worst", "traffic", "average", "hops", "deadlock"];

// Empty blocks: nothing of an older question stays.
export function clear(question) {
  const blocks = BLOCKS.filter((part) => part !== "average" || question.samples)
    .filter((part) => part !== "traffic" || question.traffic.length);
  get("parts").replaceChildren(...blocks.map((part) => make("section", { class: "part", "data-part": part },
    make("h3", {}, TITLES[part]), make("p", { class: "hint waiting" }, "…"))));
}

const blockOf = (part) => get("parts").querySelector(`[data-part="${part}"]`);

export function drop(text) {
  for (const waiting of get("parts").querySelectorAll(".waiting")) waiting.textContent = text;
}

export function show(message) {
  const block = blockOf(message.part);
  if (!block) return;
  for (const waiting of block.querySelectorAll(".waiting")) waiting.remove();
  block.append(...headline(message), lines(message.lines), ...(message.notes || []).map(
    (note) => make("p", { class: "hint" }, note)));
}

export function fail(message, suggest) {
  const block = blockOf(message.part);
  if (!block) return false;
  for (const waiting of block.querySelectorAll(".waiting")) waiting.remove();
  const name = message.name ? [make("h4", {}, message.name)] : [];
  block.append(...name, make("p", { class: "problem", role: "alert" }, message.text, ...hints(message.text, suggest)));
  return true;
}

// One message in place of all figures, where none of them can be computed.
export function replace(message, suggest) {
  const text = message.text ? [make("p", { class: "problem", role: "alert" }, message.text, ...hints(message.text, suggest))]
    : [make("p", { class: "hint" }, "–")];
  get("parts").replaceChildren(...text);
}

// Buttons for what a message says was meant.
export function hints(text, suggest) {
  const meant = /unknown (topology|routing|traffic) '.*': did you mean (.*)\?/.exec(text);
  if (!meant || !suggest) return [];
  return meant[2].split(" or ").map((name) => button(name, () => suggest(meant[1], name), { class: "meant" }));
}

// The number that counts, large.
function headline(message) {
  const result = message.result;
  const big = { worst: result.throughput, average: result.throughput, hops: result.hops }[message.part];
  if (message.part === "deadlock") {
    const free = result.acyclic;
    return [make("p", { class: "big " + (free ? "good" : "bad") }, free ? "free of deadlock" : "can deadlock")];
  }
  if (!big) return [];
  const unit = message.part === "hops" ? "mean hops"
    : message.part === "worst" ? (result.rated ? "times the rates of the terminals" : "packets per node and cycle") + " guaranteed" : "packets per node and cycle, estimated";
  return [make("p", { class: "big" }, number(big), make("span", {}, " " + unit))];
}

export const inShort = (worst) => `worst channel load ${number(worst.channel_load)}, throughput ${number(worst.throughput)}`;

export function number(value) {
  if (!value) return "–";
  if ("exact" in value) {
    const short = String(Number(value.value.toPrecision(4)));
    return value.exact.includes("/") ? (value.exact.length > 12 ? "≈ " : value.exact + " = ") + short : value.exact;
  }
  if ("lower" in value) return `${value.lower} to ${value.upper}`;
  return `${Number(value.value.toPrecision(5))} ± ${Number(value.stderr.toPrecision(2))}`;
}

function lines(pairs) {
  const list = make("dl");
  for (const [label, text] of pairs) list.append(make("dt", {}, label), make("dd", {}, text));
  return list;
}

export function commands(all) {
  const list = get("commands");
  list.replaceChildren();
  for (const [part, line] of Object.entries(all)) {
    const copying = button("Copy", () => copy(line, copying), { "aria-label": "Copy the command: " + (TITLES[part] || "this page") });
    list.append(make("dt", {}, TITLES[part] || "This page"), make("dd", {}, make("code", {}, line), " ", copying));
  }
}
