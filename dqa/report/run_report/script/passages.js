// A trace, passage by passage.
function sections(list) {
  return list.map((one) => el("section", {}, one.title ? el("h5", {}, one.title) : null,
    el("p", { class: "words", dir: "auto" }, one.text)));
}

function cell(value) {
  if (value === null || value === undefined) return el("td", { class: "null" }, "NULL");
  if (typeof value === "number") return el("td", { class: "number" }, String(value));
  return el("td", {}, el("bdi", {}, typeof value === "object" ? JSON.stringify(value) : String(value)));
}

function resultTable(one) {
  return el("div", { class: "wide bounded", tabindex: "0", role: "region", "aria-label": "Rows" }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, one.columns.map((name) => el("th", { scope: "col" }, el("bdi", {}, String(name)))))),
    el("tbody", {}, (one.rows || []).map((row) => el("tr", {}, row.map(cell))))));
}

const SHOWN = {
  prompt: (one) => el("details", { class: "prompt" },
    el("summary", {}, one.role ? `Prompt of the ${one.role}` : "Prompt"), sections(one.before), sections(one.task)),
  plan: (one) => [el("h5", {}, one.number === 1 ? "Plan" : `Plan ${one.number}`),
    el("ol", { class: "plan" }, one.steps.filter((step) => step.change !== "gone").map((step) =>
      el("li", { class: step.change }, el("bdi", {}, step.text)))),
    (one.beside || []).map((line) => el("p", { class: "muted" }, line))],
  thought: (one) => el("p", { class: "words said", dir: "auto" }, one.text),
  reply: (one) => el("p", { class: "words", dir: "auto" }, one.text),
  called: (one) => [
    el("h5", {}, one.tool === "query_database" ? "Statement" : capital(one.tool.replaceAll("_", " "))),
    one.asked ? highlighted(one.asked) : null,
    one.translated ? [el("p", { class: "muted" }, "as it ran:"), highlighted(one.translated)] : null,
    one.error ? el("p", { class: "problem" }, `${one.error}: ${one.text || ""}`) : null,
    one.columns ? resultTable(one) : !one.error && one.text ? el("p", { class: "words", dir: "auto" }, one.text) : null,
    one.done === false ? el("p", { class: "problem" }, "Nothing came back.") : null,
    (one.notes || []).filter(Boolean).map((note) => el("p", { class: "muted small" }, note))],
  failure: (one) => el("p", { class: "problem" }, `The reply could not be used: ${one.problem}`),
  fault: (one) => el("p", { class: "problem" }, `The model failed: ${one.message}`),
  crash: (one) => [el("p", { class: "problem" }, one.problem), el("pre", {}, one.traceback)],
  noted: (one) => [el("h5", {}, capital(one.title)), el("p", { class: "words", dir: "auto" }, one.lines.join("\n"))],
  other: (one) => [el("h5", {}, one.event), el("pre", {}, JSON.stringify(one.data, null, 1))],
  answer: (one) => [el("h5", {}, "Answer"), el("p", { class: "words answer", dir: "auto" }, one.text)],
  spent: (one) => el("p", { class: "muted small" },
    `${counted(one.steps, "reply", "replies")}, ${counted(one.called, "call")} of tools, ${counted(one.plans, "plan")}, ${figure(one.seconds, 3)} s, ${figure(one.input_tokens)} tokens in, ${figure(one.output_tokens)} out.`),
  judgement: (one) => el("p", { class: `verdict ${one.outcome}` }, mark(one.outcome), " ", verdict(one)),
  unjudged: (one) => el("p", { class: "verdict" }, mark("unlabelled"), ` Not judged (${one.ending})${one.problem ? `: ${one.problem}` : "."}`),
};

function verdict(one) {
  if (one.outcome === "correct") return "Right: nothing is better.";
  const best = (one.ties || []).slice(0, 3).join(" or ");
  const parts = [`${capital(OUTCOMES[one.outcome] || one.outcome)}.`];
  if (best) parts.push(`The best is ${best}${one.best_value === undefined ? "" : ` (${one.unit} ${figure(one.best_value, 5)})`}.`);
  if (one.regret !== undefined) {
    const share = one.relative_regret === undefined ? "" : `, ${percent(one.relative_regret)} of what could be gained`;
    parts.push(`This one gives away ${figure(one.regret, 4)}${share}; rank ${one.rank}.`);
  }
  if (one.problem) parts.push(one.problem);
  return parts.join(" ");
}

function passages(list) {
  return list.map((one) => el("div", { class: `passage of-${one.kind}` }, (SHOWN[one.kind] || SHOWN.other)(one)));
}
