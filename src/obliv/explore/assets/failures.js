// Links and nodes that are removed: by click in the drawing, or by the buttons of the chosen link.

import { button, get, make } from "./dom.js";

let breaking = false, remove = () => {}, restore = () => {};
let network = null, chosen = -1, held = false, removing = false;

export function start(onRemove, onRestore) {
  remove = (text) => { removing = true; onRemove(text); };
  restore = (failed) => { removing = true; onRestore(failed); };
  get("breaking").addEventListener("click", () => {
    breaking = !breaking;
    get("breaking").setAttribute("aria-pressed", String(breaking));
    get("drawing").classList.toggle("breaking", breaking);
  });
  get("restore").addEventListener("click", () => restore([]));
  const drawing = get("drawing");
  drawing.addEventListener("obliv-channel", (event) => choose(event.detail.channel, event.detail.pinned));
  drawing.addEventListener("click", clicked, true);
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Delete" && chosen >= 0 && network) { event.preventDefault(); remove(network.links[chosen]); }
  });
}

// Shows the failures of a network, with a button to restore each.
export function show(message) {
  network = message;
  chosen = -1;
  held = false;
  get("cuts").replaceChildren(make("span", { class: "hint" }, "Choose a channel in the drawing to remove its link or one of its nodes."));
  list(message.failed);
  if (removing && document.activeElement === document.body) (get("failed").querySelector("button") || get("breaking")).focus();
  removing = false;
}

// Lists what was removed, each with a button to restore it.
export function list(failed) {
  get("failures").hidden = !failed.length;
  get("failed").replaceChildren(...failed.map((each) => make("li", {}, each.name,
    button("×", () => restore(failed.map((other) => other.text).filter((text) => text !== each.text)),
      { "aria-label": `Restore ${each.name}` }))));
}

export function wait() {
  network = null;
  get("cuts").replaceChildren();
}

function clicked(event) {
  if (!breaking || !network) return;
  const circle = event.target.closest && event.target.closest(".on-nodes circle");
  if (circle) {
    const node = [...circle.parentNode.querySelectorAll("circle")].indexOf(circle);
    remove(network.names[node]);
    return;
  }
  if (event.target.closest("svg.on-picture") && chosen >= 0) remove(network.links[chosen]);
}

// A channel that is only pointed at changes nothing while another one is chosen: the way to the buttons leads over many.
function choose(channel, pinned) {
  if (!network || channel < 0 || (!pinned && held)) return;
  chosen = channel;
  held = pinned;
  const { tail, head } = network.payload.channels[channel], nodes = network.payload.nodes;
  const choices = [[`Remove link ${nodes[tail].name} – ${nodes[head].name}`, network.links[channel]],
    ...[tail, head].map((node) => [`Remove node ${nodes[node].name}`, network.names[node]])];
  get("cuts").replaceChildren(...choices.map(([text, what]) => button(text, () => remove(what))));
}
