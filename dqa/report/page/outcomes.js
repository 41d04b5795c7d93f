// The outcomes of candidates, and the deciders that chose each candidate.
function choosers(report, question) {
  const found = new Map();
  for (const decision of question.decisions) {
    if (decision.choice === null) continue;
    const key = String(decision.choice);
    if (!found.has(key)) found.set(key, new Map());
    const name = report.contestants[decision.contestant].name;
    found.get(key).set(name, (found.get(key).get(name) || 0) + 1);
  }
  return found;
}

// A table of the best and the chosen candidates, with a strip of all outcomes.
function outcomes(truth, question, chosenBy) {
  const rows = truth.outcomes.length ? truth.outcomes : knownOutcomes(question);
  if (!rows.length) return null;
  const all = truth.values.length ? truth.values : rows.map((row) => row.outcome);
  const base = question.baseline;
  const known = [...all, ...(base === null ? [] : [base])];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const x = (value) => (most === least ? 0.5 : (value - least) / (most - least));
  const ground = base === null ? null : across(x(base), "reference");
  const strips = el("tr", {}, number(""), el("td", { class: "muted" }, truth.total ? `all ${truth.total}` : "known"),
    strip(all.map((value) => across(x(value), "dash"))), number(""), el("td", {}));
  const list = rows.map((row) => {
    const who = [...(chosenBy.get(String(row.candidate)) || [])].map(([name, times]) => (times > 1 ? `${name} ×${times}` : name));
    return el("tr", { class: `outcome ${row.rank === 1 ? "best" : ""} ${who.length ? "chosen" : ""}` }, number(row.rank), el("td", {}, el("bdi", {}, row.candidate)),
      strip(ground, line(x(base === null ? least : base), x(row.outcome), "stem"), svg("circle", { cx: at(x(row.outcome)), cy: 10, r: 5.5, class: "face" })),
      number(figure(row.outcome, 6)), el("td", {}, who.join(", ")));
  });
  const better = question.goal ? ` ${question.goal === "maximise" ? "More" : "Less"} is better.` : "";
  const nothing = base === null ? "" : ` The dashed line is the outcome of doing nothing (${figure(base, 5)}).`;
  const shown = table(["#Rank", "Candidate", axis([]), `#${capital(question.unit)}`, "Chosen by"], [strips, ...list], { class: "figures" });
  shown.classList.add("bounded");
  return el("figure", { class: "outcomes" }, el("figcaption", {}, el("h4", {}, capital(question.unit)),
    el("p", { class: "muted" }, `The outcome of each candidate.${better}${nothing}`)), shown);
}

// The outcomes in the results, if the questions cannot be read.
function knownOutcomes(question) {
  const found = new Map();
  for (const one of question.ties) {
    if (question.best_value !== null) found.set(String(one), { candidate: one, outcome: question.best_value, rank: 1 });
  }
  for (const { choice, value, rank } of question.decisions) {
    if (choice !== null && value !== null && rank !== null) found.set(String(choice), { candidate: choice, outcome: value, rank });
  }
  return [...found.values()].sort((a, b) => a.rank - b.rank);
}
