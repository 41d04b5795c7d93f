const root = document.querySelector("main");
let list = null;
let details = null;

async function readDetails(question) {
  details = details || unpack("details");
  return (await details)[question.key] || { truth: null, traces: {} };
}

function summaryTable(report) {
  const cells = report.contestants.flatMap(accuracyCells);
  const columns = report.scenarios.flatMap((scenario) => report.databases
    .filter((database) => cells.some((one) => one.scenario === scenario && one.database === database))
    .map((database) => [scenario, database]));
  const [field, name] = spendingOf(report);
  const regrets = report.contestants.some((one) => one.figures.relative_regret);
  const titles = ["Decider", "#Accuracy", "#Right", ...columns.map(([scenario, database]) =>
    el("th", { scope: "col", class: "number" }, capital(scenario), el("small", {}, database,
      el("br"), situations(cells.filter((one) => one.scenario === scenario && one.judged))))),
  ...(regrets ? ["#Regret", "#Rank"] : []), `#${capital(name)} per question`];
  return table(titles, bestFirst(report.contestants, accuracyOf).map((who) => {
    const own = who.figures;
    const shares = columns.map(([scenario, database]) => {
      const one = cells.find((found) => found.contestant === who && found.scenario === scenario && found.database === database);
      return one && one.accuracy !== null ? number(percent(one.accuracy), el("small", {}, interval(one.low, one.high))) : number("–");
    });
    return el("tr", {}, el("th", { scope: "row" }, breakable(who.name), el("small", {}, own.model === "none" ? "no model" : breakable(own.model))),
      number(el("strong", {}, percent(accuracyOf(who))), el("small", {}, interval(...intervalOf(who)))),
      number(`${own.correct}/${own.judged}`, el("small", {}, situations([who]))), shares,
      regrets ? [estimate(own.relative_regret, percent, 100), estimate(own.rank, (value) => figure(value, 3))] : null,
      number(spentBy(who, field) === null ? "unknown" : figure(spentBy(who, field), 3)));
  }), { class: "summary" });
}

// The number of situations that figures are based on, if it is known and the same for all cells.
function situations(cells) {
  const counts = new Set(cells.map((one) => one.situations));
  const [count] = counts;
  return counts.size === 1 && count !== null ? counted(count, "situation") : "";
}

function estimate(found, shown, factor = 1) {
  if (!found) return number("–");
  const ends = [found.low, found.high].map((end) => (end === null ? end : (factor * end).toFixed(1)));
  return number(shown(found.value), el("small", {}, ends.includes(null) ? "" : ends.join("–")));
}

function subtitle(report) {
  const decisions = report.contestants.reduce((sum, { figures }) => sum + figures.judged + figures.unjudged, 0);
  const models = [...new Set(report.contestants.map((one) => one.figures.model))].filter((one) => one !== "none");
  const scripted = report.contestants.some((one) => one.scripted) ? ", a scripted program, not a language model" : "";
  return [counted(decisions, "decision"), `on ${counted(report.questions.length, "question")}`, `by ${counted(report.contestants.length, "decider")}`,
    `on ${counted(report.databases.length, "database")}${models.length ? `; ${models.join(", ")}${scripted}` : ""}.`].join(" ");
}

function progress({ planned, judged, failed, unlabelled }) {
  const made = judged + failed + unlabelled;
  return planned === null ? counted(made, "decision") : `${made.toLocaleString("en")} of ${counted(planned, "decision")}`;
}

function runFacts(run) {
  const { counts } = run;
  return el("section", { class: "run" }, el("h3", {}, el("bdi", {}, run.name)),
    el("p", {}, `${progress(counts)} made, ${counts.judged.toLocaleString("en")} judged, ${counts.correct.toLocaleString("en")} right`,
      counts.failed ? `, ${counts.failed} failed` : "", counts.unlabelled ? `, ${counts.unlabelled} without a known answer` : "", "."),
    el("dl", { class: "facts" }, run.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    run.notes.map((note) => el("p", { class: "muted small" }, note)));
}

function unfinished(report) {
  const late = report.runs.filter(({ counts }) => counts.complete === false);
  if (!late.length) return null;
  return el("p", { class: "notice" }, late.map(({ name, counts }) =>
    `${name} is not complete: ${progress(counts)} made${counts.failed ? `, ${counts.failed} of them failed` : ""}.`).join(" "));
}

function draw(report) {
  document.getElementById("subtitle").textContent = subtitle(report);
  list = questionList(report);
  const section = (id, title, ...children) => el("section", { id }, el("h2", {}, title), children);
  root.replaceChildren(...[
    unfinished(report),
    report.headline ? el("p", { class: "headline" }, report.headline) : null,
    section("questions", "Questions", report.traces ? el("p", { class: "notice" }, report.traces) : null,
      report.outcomes ? el("p", { class: "muted small" }, report.outcomes) : null, list.node),
    section("summary", "Summary", summaryTable(report),
      el("p", { class: "muted small" }, ["Accuracy is the share of right answers among the judged decisions, with its 95 % interval below.", ...report.intervals].join(" "))),
    report.pairs.length ? section("compared", "Compared", comparison(report)) : null,
    section("charts", "Charts", charts(report)),
    section("runs", report.runs.length > 1 ? "Runs" : "The run", report.runs.map(runFacts)),
  ].filter(Boolean));
  document.querySelector("nav a[href='#compared']").hidden = !report.pairs.length;
}

document.addEventListener("keydown", (event) => {
  if (!list) return;
  if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    list.search.focus();
  } else if (event.key === "Escape" && document.activeElement === list.search) {
    list.search.value = "";
    list.search.dispatchEvent(new Event("input"));
  }
});

drawPage(async () => {
  draw(await unpack("report"));
  document.getElementById("sections").hidden = false;
});
