const OUTCOMES = {
  correct: "right", wrong: "wrong", forbidden: "forbidden", no_candidate: "no candidate named",
  ambiguous: "several candidates named", step_limit: "step limit", unparsable: "unreadable replies",
  no_decision: "undecided, budget spent", infrastructure: "server error",
  budget: "run's budget spent", stopped: "ended by a person", crashed: "crashed",
  unlabelled: "no known answer",
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
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(8, digitsAfter) });
}

function counted(count, noun, nouns = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;
}

function capital(word) {
  return word ? word[0].toUpperCase() + word.slice(1) : word;
}

function shortened(words, most) {
  const all = [...String(words)];
  return all.length > most ? `${all.slice(0, Math.max(1, most - 1)).join("")}…` : all.join("");
}

// A name in which lines may break after separators.
function breakable(name) {
  const parts = [...String(name).matchAll(/[@]?[^@:\-/]*[:\-/]*/g)].map(([part]) => part).filter(Boolean);
  return el("bdi", {}, parts.map((part) => [part, el("wbr")]));
}

// A mark for an outcome. The shape alone identifies the outcome, without the colour.
function mark(outcome) {
  const kind = outcome === "correct" ? "right" : UNJUDGED.has(outcome) ? "unjudged"
    : outcome === "wrong" ? "wrong" : "failed";
  const paths = {
    right: [svg("circle", { cx: 7, cy: 7, r: 6, class: "face" }),
      svg("path", { d: "M4 7l2.2 2.4L10.2 4.4", class: "line" })],
    wrong: [svg("path", { d: "M4 4l6 6m0 -6l-6 6", class: "line" })],
    failed: [svg("rect", { x: 1.5, y: 1.5, width: 11, height: 11, rx: 2, class: "face" }),
      svg("path", { d: "M7 3.8v3.6m0 2.2v.6", class: "line" })],
    unjudged: [svg("path", { d: "M4 7h6", class: "line" })],
  };
  return svg("svg", { class: `mark ${kind}`, width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, paths[kind]);
}

// The accuracy of a contestant, and the ends of its interval: by situations if known, otherwise by questions.
const accuracyOf = (contestant) => (contestant.figures.accuracy ? contestant.figures.accuracy.value : null);
function intervalOf(contestant) {
  const { accuracy, low, high } = contestant.figures;
  return accuracy && accuracy.low !== null ? [accuracy.low, accuracy.high] : [low, high];
}

// The mean spending of a contestant per question, as cost, tokens or replies (steps).
function spentBy(contestant, name) {
  if (name === "steps") return contestant.steps;
  const rate = contestant.figures.efficiency[name === "cost" ? "money" : "tokens"];
  return rate && rate.per_question ? rate.per_question.value : null;
}

// The accuracies of a contestant, with their intervals and the number of judged decisions.
function accuracyCells(contestant) {
  return contestant.accuracies.map((figures) => {
    const unjudged = [...UNJUDGED].reduce((sum, outcome) => sum + figures[outcome], 0);
    const clustered = figures.clustered_low !== null;
    return { ...figures, contestant, share: figures.accuracy, judged: figures.questions - unjudged, byQuestions: [figures.low, figures.high],
      low: clustered ? figures.clustered_low : figures.low, high: clustered ? figures.clustered_high : figures.high };
  });
}
