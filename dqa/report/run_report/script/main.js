const root = document.getElementById("report");
const THEMES = ["", "dark", "light"];
let list = null;

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function themeButton() {
  const button = document.getElementById("theme");
  const isDark = () => (document.documentElement.dataset.theme
    || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    applyTheme(isDark() ? "light" : "dark");
    show();
  });
  show();
}

function summaryTable(report) {
  const order = report.totals.map((_, place) => place).sort((a, b) => (report.totals[b].accuracy ?? -1) - (report.totals[a].accuracy ?? -1));
  const columns = [];
  for (const one of report.accuracies) {
    if (!columns.some(([scenario, database]) => scenario === one.scenario && database === one.database)) columns.push([one.scenario, one.database]);
  }
  columns.sort((a, b) => report.scenarios.indexOf(a[0]) - report.scenarios.indexOf(b[0]));
  const [field, name] = spendingOf(report);
  const spans = report.scenarios.map((scenario) => [scenario, columns.filter(([one]) => one === scenario).length]);
  const regrets = report.totals.some((one) => one.relative_regret);
  const cells = (place) => columns.map(([scenario, database]) => {
    const one = report.accuracies.find((cellOf) => cellOf.contestant === place && cellOf.scenario === scenario && cellOf.database === database);
    return el("td", { class: "number" }, one && one.accuracy !== null
      ? [percent(one.accuracy), el("small", {}, interval(one.low, one.high))] : "–");
  });
  return el("div", { class: "wide" }, el("table", { class: "summary" },
    el("thead", {},
      el("tr", {}, el("th", { rowspan: 2, scope: "col" }, "Decider"), el("th", { rowspan: 2, scope: "col", class: "number" }, "Accuracy"),
        el("th", { rowspan: 2, scope: "col", class: "number" }, "Right"),
        spans.map(([scenario, width]) => el("th", { colspan: width, scope: "colgroup", class: "group" }, capital(scenario),
          el("small", {}, situations(report.accuracies.filter((one) => one.scenario === scenario && one.judged))))),
        regrets ? [el("th", { rowspan: 2, scope: "col", class: "number" }, "Regret"), el("th", { rowspan: 2, scope: "col", class: "number" }, "Rank")] : null,
        el("th", { rowspan: 2, scope: "col", class: "number" }, `${capital(name)} a question`)),
      el("tr", {}, columns.map(([, database]) => el("th", { scope: "col", class: "number" }, database)))),
    el("tbody", {}, order.map((place) => {
      const total = report.totals[place];
      const who = report.contestants[place];
      return el("tr", {}, el("th", { scope: "row" }, breakable(who.name), el("small", {}, who.model === "none" ? "asks no model" : who.model)),
        el("td", { class: "number strong" }, percent(total.accuracy), el("small", {}, interval(total.low, total.high))),
        el("td", { class: "number" }, `${total.correct}/${total.judged}`, el("small", {}, situations([total]))), cells(place),
        regrets ? [estimate(total.relative_regret, percent, 100), estimate(total.rank, (value) => figure(value, 3))] : null,
        el("td", { class: "number" }, figure(total[field], 3)));
    }))));
}

// How many situations figures rest on, where that is known and one number.
function situations(cells) {
  const counts = new Set(cells.map((one) => one.situations));
  const [count] = counts;
  return counts.size === 1 && count !== null ? counted(count, "situation") : "";
}

function estimate(found, shown, factor = 1) {
  if (!found) return el("td", { class: "number" }, "–");
  const ends = [found.low, found.high].map((end) => (end === null ? end : (factor * end).toFixed(1)));
  return el("td", { class: "number" }, shown(found.value), el("small", {}, ends.includes(null) ? "" : ends.join("–")));
}

function subtitle(report) {
  const decisions = report.totals.reduce((sum, one) => sum + one.decisions, 0);
  const models = [...new Set(report.contestants.map((one) => one.model))].filter((one) => one !== "none");
  const scripted = report.contestants.some((one) => one.scripted) ? ", a scripted program and no language model" : "";
  return [counted(decisions, "decision"), `on ${counted(report.questions.length, "question")}`, `by ${counted(report.contestants.length, "decider")}`,
    `on ${counted(report.databases.length, "database")}${models.length ? `; ${models.join(", ")}${scripted}` : ""}.`].join(" ");
}

function runFacts(run) {
  const made = run.planned === null ? counted(run.made, "decision") : `${run.made.toLocaleString("en")} of ${counted(run.planned, "decision")}`;
  return el("section", { class: "run" }, el("h3", {}, el("bdi", {}, run.name)),
    el("p", {}, `${made} made, ${run.judged.toLocaleString("en")} judged, ${run.correct.toLocaleString("en")} right`,
      run.failed ? `, ${run.failed} failed` : "", run.unlabelled ? `, ${run.unlabelled} without a known answer` : "", "."),
    el("dl", { class: "facts" }, run.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    run.notes.map((note) => el("p", { class: "muted small" }, note)));
}

function unfinished(report) {
  const late = report.runs.filter((run) => run.complete === false);
  if (!late.length) return null;
  return el("p", { class: "notice" }, late.map((run) =>
    `${run.name} is not complete: ${run.planned === null ? counted(run.made, "decision") : `${run.made} of ${counted(run.planned, "decision")}`} made${run.failed ? `, ${run.failed} of them failed` : ""}.`).join(" "));
}

function draw(report) {
  const top = window.scrollY;
  const typing = document.activeElement && document.activeElement.name === "words";
  forget(root);
  document.getElementById("subtitle").textContent = subtitle(report);
  list = questionList(report);
  root.replaceChildren(...[
    unfinished(report),
    el("section", { id: "summary" }, el("h2", {}, "Summary"), summaryTable(report),
      el("p", { class: "muted small" }, ["Accuracy is the share of right answers among the judged decisions, with its 95 % interval below.", ...report.intervals].join(" "))),
    report.pairs.length ? el("section", { id: "compared" }, el("h2", {}, "Compared"), comparison(report)) : null,
    el("section", { id: "charts" }, el("h2", {}, "Charts"), el("ul", { class: "legend databases" }, report.databases.map((name, place) =>
        el("li", {}, svg("svg", { width: 14, height: 14, class: `c${place % 8}`, "aria-hidden": "true" }, shape(place, 7, 7, 4.5, { class: "point" })), name))),
      el("div", { class: "grid" }, charts(report))),
    el("section", { id: "questions" }, el("h2", {}, "Questions"),
      report.traces ? el("p", { class: "notice" }, report.traces) : null,
      report.pictures ? el("p", { class: "muted small" }, report.pictures) : null, list.node),
    el("section", { id: "runs" }, el("h2", {}, report.runs.length > 1 ? "Runs" : "The run"), report.runs.map(runFacts)),
  ].filter(Boolean));
  document.querySelector("nav a[href='#compared']").hidden = !report.pairs.length;
  if (typing) list.search.focus();
  window.scrollTo(0, top);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && list && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    list.search.focus();
  } else if (event.key === "Escape" && list && document.activeElement === list.search) {
    list.search.value = "";
    list.search.dispatchEvent(new Event("input"));
  }
});

async function follow(stamp) {
  const told = document.getElementById("live");
  let last = stamp;
  for (;;) {
    await new Promise((done) => { setTimeout(done, 2000); });
    try {
      const report = await readReport();
      told.textContent = "live";
      told.className = "on";
      if (report.stamp !== last) {
        last = report.stamp;
        draw(report);
      }
    } catch (error) {
      told.textContent = "the server has ended";
      told.className = "off";
    }
  }
}

async function start() {
  themeButton();
  try {
    const report = await readReport();
    draw(report);
    document.getElementById("sections").hidden = false;
    document.body.dataset.ready = "yes";
    if (LIVE) follow(report.stamp);
  } catch (error) {
    document.getElementById("subtitle").textContent = "";
    root.replaceChildren(el("p", { class: "problem" }, error.message));
    document.body.dataset.ready = "no";
  }
}
start();
