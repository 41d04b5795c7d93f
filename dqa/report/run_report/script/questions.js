// The list of questions: sorted, filtered, unfolded; a few rows at a time, as there may be many.
const PAGE = 60;
const state = {
  sort: "", down: false, scenario: "", database: "", decider: "", outcome: "", words: "", shown: PAGE,
  open: new Set(), traces: new Set(),
};

function questionList(report) {
  const body = el("tbody", {});
  const count = el("output", { class: "muted", role: "status" });
  const more = el("button", { type: "button", class: "more", onclick: () => { state.shown += PAGE; draw(); } });
  const collator = new Intl.Collator("en", { numeric: true });
  const searched = report.questions.map((one) =>
    [one.key, one.text, ...one.tags, ...one.ties, ...one.decisions.map((decision) => decision.choice)].join("\n").toLowerCase());
  const kept = new Map();
  let filters = [];
  let ordered = [];

  const fits = (decision) => (!state.database || decision.database === state.database)
    && (state.decider === "" || decision.contestant === Number(state.decider))
    && (!state.outcome || (state.outcome === "not right" ? decision.outcome !== "correct" && !UNJUDGED.has(decision.outcome)
      : state.outcome === "not judged" ? UNJUDGED.has(decision.outcome) : decision.outcome === state.outcome));

  const own = (question) => question.decisions.filter((one) =>
    (!state.database || one.database === state.database) && (state.decider === "" || one.contestant === Number(state.decider)));

  const mean = (values) => {
    const known = values.filter((value) => value !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : -1;
  };
  const orders = {
    question: (question) => question.key,
    scenario: (question) => question.scenario,
    right: (question) => mean(own(question).filter((one) => !UNJUDGED.has(one.outcome)).map((one) => (one.outcome === "correct" ? 1 : 0))),
    regret: (question) => mean(own(question).map((one) => one.relative_regret)),
    steps: (question) => mean(own(question).map((one) => one.steps)),
  };

  function draw() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = report.questions.filter((one, place) => (!state.scenario || one.scenario === state.scenario)
      && one.decisions.some(fits) && words.every((word) => searched[place].includes(word)));
    ordered = found;
    const order = orders[state.sort] || (state.sort.startsWith("c") ? (question) => {
      const of = question.decisions.filter((one) => one.contestant === Number(state.sort.slice(1)) && !UNJUDGED.has(one.outcome));
      return mean(of.map((one) => (one.outcome === "correct" ? 1 : 0)));
    } : null);
    if (order) {
      const keys = new Map(found.map((one) => [one, order(one)]));
      const sign = state.down ? -1 : 1;
      ordered = [...found].sort((a, b) => {
        const [left, right] = [keys.get(a), keys.get(b)];
        return sign * (typeof left === "number" ? left - right : collator.compare(left, right));
      });
    }
    const rows = ordered.slice(0, state.shown).flatMap(rowsOf);
    body.replaceChildren(...rows);
    count.value = found.length === report.questions.length ? counted(found.length, "question")
      : `${found.length.toLocaleString("en")} of ${counted(report.questions.length, "question")}`;
    const left = ordered.length - state.shown;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(PAGE, left)} more of ${left.toLocaleString("en")}`;
  }

  // A row is made once, so that what a reader opened in it stays as it is.
  function rowsOf(question) {
    if (!kept.has(question.id)) kept.set(question.id, makeRow(report, question));
    const made = kept.get(question.id);
    made.filter(fits);
    return made.rows();
  }

  const head = el("tr", {}, [["question", "Question"], ["right", "Right"], ...report.contestants.map((one, place) => [`c${place}`, one.name]), ["regret", "Regret"], ["steps", "Replies"]]
    .map(([name, title]) => {
      const cellOf = el("th", { scope: "col", class: name === "question" ? null : name.startsWith("c") ? "marks" : "number" },
        el("button", { type: "button", title: name.startsWith("c") ? title : null, onclick: () => {
          state.down = state.sort === name ? !state.down : name === "regret" || name === "steps";
          state.sort = name;
          for (const other of head.children) other.removeAttribute("aria-sort");
          cellOf.setAttribute("aria-sort", state.down ? "descending" : "ascending");
          state.shown = PAGE;
          draw();
        } }, breakable(title)));
      if (state.sort === name) cellOf.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      return cellOf;
    }));

  const choose = (name, title, options) => {
    const select = el("select", { name, onchange: () => { state[name] = select.value; state.shown = PAGE; draw(); } },
      el("option", { value: "" }, `All ${title}`), options.map(([value, words]) => el("option", { value }, words)));
    select.value = state[name];
    return el("label", {}, el("span", { class: "hidden" }, title), select);
  };
  const outcomesThere = [...new Set(report.questions.flatMap((one) => one.decisions.map((decision) => decision.outcome)))];
  const search = el("input", { type: "search", name: "words", placeholder: "Search questions and choices  ( / )", "aria-label": "Search", oninput: () => {
    state.words = search.value; state.shown = PAGE; draw();
  } });
  search.value = state.words;
  filters = [
    search,
    report.scenarios.length > 1 ? choose("scenario", "scenarios", report.scenarios.map((one) => [one, one])) : null,
    report.databases.length > 1 ? choose("database", "databases", report.databases.map((one) => [one, one])) : null,
    report.contestants.length > 1 ? choose("decider", "deciders", report.contestants.map((one, place) => [String(place), one.name])) : null,
    choose("outcome", "outcomes", [...(outcomesThere.some((one) => one !== "correct") ? [["not right", "not right"]] : []),
      ...(outcomesThere.some((one) => UNJUDGED.has(one)) ? [["not judged", "not judged"]] : []),
      ...outcomesThere.map((one) => [one, OUTCOMES[one] || one])]),
  ];
  const table = el("table", { class: "list" }, el("thead", {}, head), body);
  body.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...body.querySelectorAll(":scope > tr > th > button")];
    const at = buttons.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    const next = buttons[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
    else if (event.key === "ArrowDown" && !more.hidden) { more.click(); buttons[at].focus(); }
  });
  draw();
  // A table that fits lets its head stay in sight; a wider one scrolls in itself, and the page does not.
  const scroller = el("div", { class: "wide" }, table);
  const fitting = new ResizeObserver(() => scroller.classList.toggle("roomy", table.offsetWidth <= scroller.clientWidth));
  fitting.observe(scroller);
  fitting.observe(table);
  return { search, node: el("div", {}, el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, filters, count),
    columnsTold(report), scroller, more) };
}

// What the marks in a decider's column are.
function columnsTold(report) {
  const said = [];
  if (report.databases.length > 1) said.push(`its answers on ${report.databases.join(", ")}, in this order`);
  if (report.epochs.length) said.push("how many of its attempts were right, as 2/3");
  if (!said.length) return null;
  return el("p", { class: "muted small" }, `A decider's column has ${said.join(": ")}. Each opens what was decided.`);
}

function makeRow(report, question) {
  const label = question.key;
  const button = el("button", { type: "button", "aria-expanded": "false", class: "opener", onclick: () => toggle() },
    el("span", { class: "key" }, el("bdi", {}, label)), question.text ? el("span", { class: "text", dir: "auto" }, shortened(question.text.replace(/\s+/g, " "), 150)) : null);
  const marks = report.contestants.map((_, place) => {
    const asked = new Map();
    for (const [number, one] of question.decisions.entries()) {
      if (one.contestant === place) asked.set(one.database, [...(asked.get(one.database) || []), number]);
    }
    return el("td", { class: "marks" }, [...asked.values()].map((numbers) => pick(report, question, numbers, open)));
  });
  const row = el("tr", { class: "question" }, el("th", { scope: "row" }, button),
    el("td", { class: "number" }, question.judged ? `${question.correct}/${question.judged}` : "–"), marks,
    el("td", { class: "number" }, percent(question.mean_relative_regret)),
    el("td", { class: "number" }, figure(question.decisions.reduce((sum, one) => sum + one.steps, 0) / question.decisions.length, 2)));
  let detail = null;
  let parts = null;

  async function open(number) {
    if (!state.open.has(question.id)) toggle();
    if (parts) {
      const made = await parts;
      made.decisions[number].open = true;
      made.decisions[number].querySelector("summary").focus();
    }
  }
  function toggle() {
    const opening = !state.open.has(question.id);
    if (opening) state.open.add(question.id); else state.open.delete(question.id);
    const fresh = rows();
    if (opening) row.after(fresh[1]); else if (detail) { forget(detail); detail.remove(); detail = null; parts = null; }
  }
  function rows() {
    const isOpen = state.open.has(question.id);
    button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return [row];
    if (!detail) {
      const box = el("div", { class: "unfolded" }, el("p", { class: "muted" }, "Opening …"));
      detail = el("tr", { class: "detail" }, el("td", { colspan: report.contestants.length + 4 }, box));
      parts = details(report, question, box);
    }
    return [row, detail];
  }
  function filter(fits) {
    for (const pick of row.querySelectorAll(".pick")) pick.classList.toggle("dim", !pick.dataset.numbers.split(" ").some((number) => fits(question.decisions[number])));
  }
  return { rows, filter };
}

// Whether the run of a decision has several epochs.
function isRepeated(report, one) {
  const { run } = report.contestants[one.contestant];
  return report.epochs.some(({ contestant }) => report.contestants[contestant].run === run);
}

// What opens a decision: its mark, or of several epochs how many were right.
function pick(report, question, numbers, open) {
  const all = numbers.map((number) => question.decisions[number]);
  const who = `${report.contestants[all[0].contestant].name} on ${all[0].database}`;
  const told = (one) => `${isRepeated(report, one) ? `epoch ${one.epoch}: ` : ""}${OUTCOMES[one.outcome]}${one.choice === null ? "" : `, ${one.choice}`}`;
  const said = all.length === 1 ? `${who}: ${told(all[0])}` : [`${who}:`, ...all.map(told)].join("\n");
  const judged = all.filter((one) => !UNJUDGED.has(one.outcome)).length;
  const right = all.filter((one) => one.outcome === "correct").length;
  const kind = !judged ? "unjudged" : right === judged ? "right" : right ? "part" : "none";
  const first = numbers.find((number) => question.decisions[number].outcome !== "correct") ?? numbers[0];
  return el("button", { type: "button", tabindex: "-1", class: all.length === 1 ? "pick" : `pick several ${kind}`, title: said, "aria-label": said,
    "data-numbers": numbers.join(" "), onclick: () => open(first) }, all.length === 1 ? mark(all[0].outcome) : judged ? `${right}/${judged}` : "–");
}

async function details(report, question, box) {
  let found = { truth: null, traces: new Map() };
  let problem = null;
  try {
    found = await readDetails(question);
  } catch (error) {
    problem = el("p", { class: "problem" }, error.message);
  }
  const truth = { outcomes: [], values: [], ...(found.truth || {}) };
  const chosenBy = choosers(report, question);
  const best = new Set(question.ties.map(String));
  const picture = truth.picture ? graph({ ...truth.picture, goal: question.goal }, question.unit, best, chosenBy) : null;
  const chosen = outcomes(truth, question, chosenBy);
  const why = !picture && !truth.outcomes.length && report.pictures ? el("p", { class: "muted small" }, report.pictures) : null;
  const decisions = question.decisions.map((one, number) => decision(report, question, one, number, found.traces.get(number)));
  box.replaceChildren(...[problem,
    truth.text || question.text ? el("p", { class: "words asked", dir: "auto" }, truth.text || question.text) : null,
    truth.rules ? el("details", { class: "rules" }, el("summary", {}, "Rules"), el("p", { class: "words", dir: "auto" }, truth.rules)) : null,
    question.ties.length ? el("p", {}, el("strong", {}, question.tied > 1 ? "Best: " : "The best: "), el("bdi", {}, question.ties.join(", ")),
      question.tied > question.ties.length ? ` and ${question.tied - question.ties.length} more` : "",
      question.official !== null && !(question.ties.length === 1 && question.ties[0] === question.official) ? ` (official answer: ${question.official})` : "") : null,
    picture || chosen ? el("div", { class: picture && picture.classList.contains("broad") ? "truth one" : "truth" }, picture, chosen) : null, why,
    el("h4", {}, "Decisions"), ...decisions].filter(Boolean));
  return { decisions };
}

function decision(report, question, one, number, trace) {
  const who = report.contestants[one.contestant].name;
  const id = `${question.id}\n${who}\n${one.database}\n${one.epoch}`;
  const worth = one.value === null ? "" : `${question.unit} ${figure(one.value, 5)}${one.rank === 1 ? "" : `, rank ${one.rank}`}`;
  const repeated = isRepeated(report, one);
  const body = el("div", { class: "trace" });
  const fold = el("details", { class: "decision", ontoggle: () => {
    if (fold.open) state.traces.add(id); else state.traces.delete(id);
    if (!fold.open || body.childElementCount) return;
    body.replaceChildren(...(trace ? [trace.picture ? graph(trace.picture, "value", new Set(question.ties.map(String)), new Map(one.choice === null ? [] : [[String(one.choice), new Map([[who, 1]])]])) : null, ...passages(trace.passages)].filter(Boolean)
      : [el("p", { class: "muted" }, report.traces || "This decision left no trace.")]));
  } }, el("summary", {}, mark(one.outcome), el("span", { class: "who" }, who),
    el("span", { class: "muted" }, one.database, repeated ? `, epoch ${one.epoch}` : ""),
    el("span", { class: "choice" }, one.choice === null ? OUTCOMES[one.outcome] : el("bdi", {}, shortened(one.choice, 60))),
    el("span", { class: "muted worth" }, worth),
    el("span", { class: "muted took" }, `${counted(one.steps, "reply", "replies")}, ${counted(one.statements, "statement")}${one.tokens ? `, ${figure(one.tokens)} tokens` : ""}`)), body);
  if (state.traces.has(id)) fold.open = true;
  return fold;
}
