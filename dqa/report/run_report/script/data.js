// What the page shows: from blocks in the page itself, or from the server of 'dqa view'.
const LIVE = document.body.hasAttribute("data-live");
let shared = [];
const opened = new Map();

async function unpack(id) {
  const block = document.getElementById(id);
  if (!block) throw new Error(`The page lacks its ${id}: it was cut short. Write it again.`);
  const packed = Uint8Array.from(atob(block.textContent.trim()), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// A text that comes again is kept once: {"$": n} points at it.
function resolved(value, texts) {
  if (Array.isArray(value)) return value.map((one) => resolved(one, texts));
  if (value && typeof value === "object") {
    if ("$" in value) return value.$ < 0 ? shared[-1 - value.$] : texts[value.$];
    for (const name of Object.keys(value)) value[name] = resolved(value[name], texts);
  }
  return value;
}

async function readReport() {
  if (LIVE) {
    const answer = await fetch("report", { cache: "no-cache" });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()).report;
  }
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot unpack the report (it lacks DecompressionStream): "
      + "open it in Chrome or Edge 80, Firefox 113, Safari 16.4, or a later one.");
  }
  const first = await unpack("block-0");
  shared = first.texts;
  return first.report;
}

function block(number) {
  // The newest few stay: a reader goes forth and back between neighbours.
  if (!opened.has(number)) {
    opened.set(number, unpack(`block-${number + 1}`).then(({ texts, items }) =>
      items.map((item) => resolved(item, texts))));
    if (opened.size > 12) opened.delete(opened.keys().next().value);
  }
  return opened.get(number);
}

// Returns a question's truth, and its traces by the places of their decisions.
async function readDetails(question) {
  if (LIVE) {
    const answer = await fetch(`question?id=${encodeURIComponent(question.id)}`);
    if (!answer.ok) throw new Error(await answer.text());
    const { places, texts, items } = await answer.json();
    const [truth, ...traces] = items.map((item) => resolved(item, texts));
    return { truth, traces: new Map(places.map((place, at) => [place, traces[at]])) };
  }
  const at = (where) => (where ? block(where[0]).then((items) => items[where[1]]) : null);
  const traces = new Map();
  for (const [place, decision] of question.decisions.entries()) {
    if (decision.trace) traces.set(place, await at(decision.trace));
  }
  return { truth: await at(question.truth), traces };
}
