// Questions to the server. A new one ends the one before it, here and there; late lines of an old one are dropped.

const page = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
let running = null;

export function stop() {
  if (running) running.abort();
  running = null;
}

// Asks a question and calls `heard` for every line of the answer; the last line has the kind "end".
export async function ask(question, heard) {
  stop();
  const own = (running = new AbortController());
  const hear = (message) => { if (running === own) heard(message); };
  const end = (text) => { hear({ kind: "error", part: "", text }); hear({ kind: "end" }); };
  try {
    const answer = await fetch("ask", {
      method: "POST", signal: own.signal, headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...question, page }),
    });
    if (!answer.ok) { end(await reason(answer)); return; }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", last = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        last = message.kind;
        hear(message);
      }
    }
    if (last !== "end" && last !== "replaced") end("obliv explore has ended: start it again on the command line");
  } catch (error) {
    if (error.name === "AbortError") return;
    console.debug(error);
    end("obliv explore does not answer: it may have ended; start it again on the command line");
  } finally {
    if (running === own) running = null;
  }
}

async function reason(answer) {
  try {
    return (await answer.clone().json()).error;
  } catch {
    return (await answer.text()).trim() || "the server answers " + answer.status;
  }
}
