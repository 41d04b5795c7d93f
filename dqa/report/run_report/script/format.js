const OUTCOMES = {
  correct: "right", wrong: "wrong", no_candidate: "names no candidate",
  ambiguous: "names several", step_limit: "step limit", unparsable: "unreadable replies",
  no_decision: "budget ended it undecided", infrastructure: "a server failed",
  budget: "run's budget spent", stopped: "a person ended it", crashed: "crashed",
  unlabelled: "nothing tells what is right",
};
const UNJUDGED = new Set(["infrastructure", "budget", "stopped", "crashed", "unlabelled"]);

function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
}

function interval(low, high) {
  if (low === null || low === undefined) return "";
  return `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`;
}

function figure(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e12) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  const digitsAfter = Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1)));
  return value.toLocaleString("en", {
    maximumFractionDigits: Math.min(8, digitsAfter),
  });
}

function counted(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

function capital(word) {
  return word ? word[0].toUpperCase() + word.slice(1) : word;
}

// Ticks at round numbers.
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) {
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  }
  return found;
}

function shortened(words, most) {
  const all = [...String(words)];
  return all.length > most ? `${all.slice(0, Math.max(1, most - 1)).join("")}…` : all.join("");
}

// Words cut to what `most` pixels of a chart hold.
function cut(words, most) {
  const all = [...String(words)];
  if (widthOf(words) <= most) return all.join("");
  while (all.length > 1 && widthOf(`${all.join("")}…`) > most) all.pop();
  return `${all.join("")}…`;
}

// The parts between which a contestant's name may be broken.
function nameParts(name) {
  return [...String(name).matchAll(/[@]?[^@:\-/]*[:\-/]*/g)].map(([part]) => part).filter(Boolean);
}

// A name that breaks where it reads on, in place of making a table wide.
function breakable(name) {
  return el("bdi", {}, nameParts(name).map((part) => [part, el("wbr")]));
}

// A name in lines of at most so many pixels, and at most three.
function nameLines(name, most) {
  const lines = [""];
  const add = (piece) => {
    if (widthOf(lines[lines.length - 1] + piece) > most) lines.push("");
    lines[lines.length - 1] += piece;
  };
  for (const part of nameParts(name)) {
    if (widthOf(part) <= most) add(part);
    else [...part].forEach(add);
  }
  const whole = lines.filter(Boolean);
  return whole.length > 3 ? [...whole.slice(0, 2), cut(whole.slice(2).join(""), most)] : whole;
}

// The shape of a database, so that no colour is needed to tell it.
function shape(place, x, y, size, attributes) {
  const s = size;
  const shapes = [
    () => svg("circle", { cx: x, cy: y, r: s, ...attributes }),
    () => svg("rect", { x: x - s * 0.9, y: y - s * 0.9, width: s * 1.8, height: s * 1.8, ...attributes }),
    () => svg("path", { d: `M${x} ${y - s * 1.2}L${x + s * 1.15} ${y + s * 0.85}H${x - s * 1.15}Z`, ...attributes }),
    () => svg("path", { d: `M${x} ${y - s * 1.25}L${x + s * 1.25} ${y}L${x} ${y + s * 1.25}L${x - s * 1.25} ${y}Z`, ...attributes }),
  ];
  return shapes[place % shapes.length]();
}

function mark(outcome, size = 14) {
  const kind = outcome === "correct" ? "right" : UNJUDGED.has(outcome) ? "unjudged"
    : outcome === "wrong" ? "wrong" : "failed";
  const c = size / 2;
  const paths = {
    right: [svg("circle", { cx: c, cy: c, r: c - 1, class: "face" }),
      svg("path", { d: `M${c - 3} ${c}l2.2 2.4L${c + 3.2} ${c - 2.6}`, class: "line" })],
    wrong: [svg("path", { d: `M${c - 3} ${c - 3}l6 6m0 -6l-6 6`, class: "line" })],
    failed: [svg("rect", { x: 1.5, y: 1.5, width: size - 3, height: size - 3, rx: 2, class: "face" }),
      svg("path", { d: `M${c} ${c - 3.2}v3.6m0 2.2v.6`, class: "line" })],
    unjudged: [svg("path", { d: `M${c - 3} ${c}h6`, class: "line" })],
  };
  return svg("svg", { class: `mark ${kind}`, width: size, height: size, viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, paths[kind]);
}
