"use strict";
// Reads the closed claim that is chosen, and says what closed.js proves of it; nothing leaves the page.
(function (root) {
  const MOST_BYTES = 2 ** 28; // of a file, decompressed

  async function bytesOf(file) {
    const gzip = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
    const reader = gzip.getReader(), parts = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
      size += value.length;
      if (size > MOST_BYTES) throw new Error("more than " + MOST_BYTES.toLocaleString("en") + " bytes; obliv_check.py reads larger files");
      parts.push(value);
    }
  }

  async function check(file, say) {
    say("reading " + file.name);
    try {
      const bytes = await bytesOf(file);
      const sum = new Uint8Array(await root.crypto.subtle.digest("SHA-256", bytes));
      const digest = Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("");
      say(file.name + ": " + bytes.length.toLocaleString("en") + " bytes, SHA-256 " + digest + "\nchecking ...");
      await new Promise((resolve) => setTimeout(resolve, 30)); // so that this line is seen
      const { proved, refused, malformed } = root.OblivClosed.check(new TextDecoder("latin1").decode(bytes));
      const lines = proved.map((sentence) => "proved: " + sentence);
      if (refused) lines.push("not proved: " + refused);
      if (malformed) lines.push("malformed: " + malformed);
      lines.push("believed: nothing but the arithmetic of this page. That these flows are those of the routing that the file is called after is not proved by it.");
      say(file.name + ": " + bytes.length.toLocaleString("en") + " bytes, SHA-256 " + digest + "\n" + lines.join("\n"));
    } catch (error) {
      say(file.name + " cannot be read: " + error.message);
    }
  }

  const answer = root.document.getElementById("answer");
  root.document.getElementById("claim").addEventListener("change", (event) => {
    if (event.target.files.length) check(event.target.files[0], (text) => { answer.textContent = text; });
  });
})(globalThis);
