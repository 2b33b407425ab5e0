// Elements made without markup: names come from files of others, and are set as text only.

export const get = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

export const button = (text, call, attributes = {}) =>
  make("button", { type: "button", on: { click: call }, ...attributes }, text);

// Offers a text as a file.
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export async function copy(text, from) {
  try {
    await navigator.clipboard.writeText(text);
    from.textContent = "Copied";
  } catch {
    from.textContent = "Select it by hand";
  }
  setTimeout(() => { from.textContent = "Copy"; }, 1500);
}
