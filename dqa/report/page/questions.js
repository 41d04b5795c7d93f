// The list of questions, which can be sorted, filtered and expanded. It grows by a page of rows.
const PAGE = 60;
const state = {
  sort: "", down: false, scenario: "", database: "", decider: "", outcome: "", wrong: false, words: "", shown: PAGE,
  open: new Set(),
};

const isWrong = (decision) => decision.outcome !== "correct" && !UNJUDGED.has(decision.outcome);

function fits(decision) {
  return (!state.database || decision.database === state.database)
    && (state.decider === "" || decision.contestant === Number(state.decider))
    && (!state.wrong || isWrong(decision))
    && (!state.outcome || (state.outcome === "not judged" ? UNJUDGED.has(decision.outcome) : decision.outcome === state.outcome));
}

// The sort key of a column: a text, or a mean over the decisions of the selected database and decider.
function orderOf(column) {
  const own = (question) => question.decisions.filter((one) => (!state.database || one.database === state.database)
    && (state.decider === "" || one.contestant === Number(state.decider)));
  const right = (list) => meanOf(list.filter((one) => !UNJUDGED.has(one.outcome)).map((one) => Number(one.outcome === "correct"))) ?? -1;
  if (column === "question") return (question) => question.key;
  if (column === "right") return (question) => right(own(question));
  if (column === "regret") return (question) => meanOf(own(question).map((one) => one.relative_regret)) ?? -1;
  if (column === "steps") return (question) => meanOf(own(question).map((one) => one.steps)) ?? -1;
  return (question) => right(question.decisions.filter((one) => one.contestant === Number(column)));
}

function sorted(found) {
  if (!state.sort) return found;
  const order = orderOf(state.sort);
  const collator = new Intl.Collator("en", { numeric: true });
  const keys = new Map(found.map((one) => [one, order(one)]));
  return [...found].sort((a, b) => {
    const [left, right] = [keys.get(a), keys.get(b)];
    return (state.down ? -1 : 1) * (typeof left === "number" ? left - right : collator.compare(left, right));
  });
}

function questionList(report) {
  const body = el("tbody", {});
  const count = el("output", { class: "muted", role: "status" });
  const more = el("button", { type: "button", class: "more", onclick: () => { state.shown += PAGE; draw(); } });
  const searched = report.questions.map((one) =>
    [one.key, one.text, ...one.tags, ...one.ties, ...one.decisions.map((decision) => decision.choice)].join("\n").toLowerCase());
  const made = new Map();

  function draw() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = report.questions.filter((one, place) => (!state.scenario || one.scenario === state.scenario)
      && one.decisions.some(fits) && words.every((word) => searched[place].includes(word)));
    // A row is created only once, so that its opened parts stay open.
    body.replaceChildren(...sorted(found).slice(0, state.shown).flatMap((question) => {
      if (!made.has(question.key)) made.set(question.key, questionRow(report, question));
      return made.get(question.key).rows();
    }));
    const all = report.questions.length;
    count.value = found.length === all ? counted(all, "question") : `${found.length.toLocaleString("en")} of ${counted(all, "question")}`;
    more.hidden = found.length <= state.shown;
    more.textContent = `Show more of ${found.length.toLocaleString("en")}`;
  }
  const change = (name, value) => { state[name] = value; state.shown = PAGE; draw(); };

  const columns = [["question", "Question"], ["right", "Right"],
    ...report.contestants.map((one, place) => [String(place), one.name]), ["regret", "Regret"], ["steps", "Replies"]];
  const heads = columns.map(([name, title], place) => {
    const isMark = place > 1 && place < columns.length - 2;
    const head = el("th", { scope: "col", class: place === 0 ? null : isMark ? "marks" : "number" },
      el("button", { type: "button", onclick: () => {
        state.down = state.sort === name ? !state.down : name === "regret" || name === "steps";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        change("sort", name);
      } }, breakable(title)));
    if (state.sort === name) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    return head;
  });

  const choose = (name, title, options) => {
    if (options.length < 2) return null;
    const select = el("select", { name, "aria-label": title, onchange: () => change(name, select.value) },
      el("option", { value: "" }, `All ${title}`), options.map(([value, words]) => el("option", { value }, words)));
    select.value = state[name];
    return select;
  };
  const search = el("input", { type: "search", name: "words", value: state.words, placeholder: "Search questions and choices  ( / )",
    "aria-label": "Search", oninput: () => change("words", search.value) });
  const wrong = el("input", { type: "checkbox", name: "wrong", onchange: () => change("wrong", wrong.checked) });
  wrong.checked = state.wrong;
  const ended = [...new Set(report.questions.flatMap((one) => one.decisions.map((decision) => decision.outcome)))];
  const filters = el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    search, el("label", {}, wrong, " Wrong only"),
    choose("scenario", "scenarios", report.scenarios.map((one) => [one, one])),
    choose("database", "databases", report.databases.map((one) => [one, one])),
    choose("decider", "deciders", report.contestants.map((one, place) => [String(place), one.name])),
    choose("outcome", "outcomes", [...ended.map((one) => [one, OUTCOMES[one]]),
      ...(ended.some((one) => UNJUDGED.has(one)) ? [["not judged", "not judged"]] : [])]), count);
  body.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const buttons = [...body.querySelectorAll(":scope > tr > th > button")];
    const place = buttons.indexOf(document.activeElement);
    if (place < 0) return;
    event.preventDefault();
    (buttons[place + (event.key === "ArrowDown" ? 1 : -1)] || more).focus();
  });
  draw();
  const list = el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), body));
  return { search, node: el("div", {}, filters, marksExplained(report), list, more) };
}

function marksExplained(report) {
  const said = [];
  if (report.databases.length > 1) said.push(`The marks in a decider's column are for ${report.databases.join(", ")}, in this order.`);
  if (report.contestants.some((one) => one.epochs.length)) said.push("A mark such as 2/3 means that 2 of 3 attempts were right.");
  return said.length ? el("p", { class: "muted small" }, `${said.join(" ")} Select a mark to open the decision.`) : null;
}

function questionRow(report, question) {
  const button = el("button", { type: "button", "aria-expanded": "false", class: "opener", onclick: () => toggle() },
    el("span", { class: "key" }, el("bdi", {}, question.key)),
    question.text ? el("span", { class: "text", dir: "auto" }, shortened(question.text.replace(/\s+/g, " "), 150)) : null);
  const marks = report.contestants.map((_, place) => {
    const byDatabase = new Map();
    question.decisions.forEach((one, number_) => {
      if (one.contestant === place) byDatabase.set(one.database, [...(byDatabase.get(one.database) || []), number_]);
    });
    return el("td", { class: "marks" }, [...byDatabase.values()].map((numbers) => pick(report, question, numbers, open)));
  });
  const row = el("tr", { class: "question" }, el("th", { scope: "row" }, button),
    number(question.judged ? `${question.correct}/${question.judged}` : "–"), marks,
    number(percent(question.mean_relative_regret)), number(figure(meanOf(question.decisions.map((one) => one.steps)), 2)));
  let detail = null;
  let parts = null;

  async function open(place) {
    if (!state.open.has(question.key)) toggle();
    const folds = await parts;
    folds[place].open = true;
    folds[place].querySelector("summary").focus();
  }
  function toggle() {
    if (state.open.has(question.key)) {
      state.open.delete(question.key);
      detail.remove();
      detail = null;
    } else {
      state.open.add(question.key);
    }
    const [, fresh] = rows();
    if (fresh) row.after(fresh);
  }
  function rows() {
    const isOpen = state.open.has(question.key);
    button.setAttribute("aria-expanded", String(isOpen));
    for (const one of row.querySelectorAll(".pick")) {
      one.classList.toggle("dim", !one.dataset.numbers.split(" ").some((place) => fits(question.decisions[place])));
    }
    if (!isOpen) return [row];
    if (!detail) {
      const box = el("div", { class: "unfolded" }, el("p", { class: "muted" }, "Opening …"));
      detail = el("tr", { class: "detail" }, el("td", { colspan: report.contestants.length + 4 }, box));
      parts = unfold(report, question, box);
    }
    return [row, detail];
  }
  return { rows };
}

// Whether the run of a decision has several epochs.
function isRepeated(report, one) {
  const { run } = report.contestants[one.contestant];
  return report.contestants.some((other) => other.run === run && other.epochs.length);
}

// The button that opens a decision: a mark, or for several epochs the number of right attempts.
function pick(report, question, numbers, open) {
  const all = numbers.map((place) => question.decisions[place]);
  const who = `${report.contestants[all[0].contestant].name} on ${all[0].database}`;
  const describe = (one) => `${isRepeated(report, one) ? `epoch ${one.epoch}: ` : ""}${OUTCOMES[one.outcome]}${one.choice === null ? "" : `, ${one.choice}`}`;
  const said = all.length === 1 ? `${who}: ${describe(all[0])}` : [`${who}:`, ...all.map(describe)].join("\n");
  const judged = all.filter((one) => !UNJUDGED.has(one.outcome)).length;
  const right = all.filter((one) => one.outcome === "correct").length;
  const kind = !judged ? "unjudged" : right === judged ? "right" : right ? "part" : "none";
  const first = numbers.find((place) => question.decisions[place].outcome !== "correct") ?? numbers[0];
  return el("button", { type: "button", tabindex: "-1", class: all.length === 1 ? "pick" : `pick several ${kind}`, title: said, "aria-label": said,
    "data-numbers": numbers.join(" "), onclick: () => open(first) }, all.length === 1 ? mark(all[0].outcome) : judged ? `${right}/${judged}` : "–");
}

async function unfold(report, question, box) {
  let found = { truth: null, traces: {} };
  let problem = null;
  try {
    found = await readDetails(question);
  } catch (error) {
    problem = el("p", { class: "problem" }, error.message);
  }
  const truth = found.truth || { outcomes: [], values: [] };
  const chosenBy = choosers(report, question);
  const best = new Set(question.ties.map(String));
  const table_ = outcomes(truth, question, chosenBy);
  const others = question.tied > best.size ? ` and ${question.tied - best.size} more` : "";
  const official = question.official !== null && !(best.size === 1 && best.has(String(question.official))) ? ` (official answer: ${question.official})` : "";
  const words = truth.text || question.text;
  const decisions = question.decisions.map((one, place) => decision(report, question, one, found.traces[place]));
  box.replaceChildren(...[problem,
    words ? el("p", { class: "words asked", dir: "auto" }, words) : null,
    truth.rules ? el("details", { class: "rules" }, el("summary", {}, "Rules"), el("p", { class: "words", dir: "auto" }, truth.rules)) : null,
    best.size ? el("p", {}, el("strong", {}, "Best: "), el("bdi", {}, question.ties.join(", ")), others, official) : null,
    el("h4", {}, "Decisions"), ...decisions,
    table_ ? el("div", { class: "truth" }, table_) : null].filter(Boolean));
  return decisions;
}

function decision(report, question, one, trace) {
  const who = report.contestants[one.contestant].name;
  const worth = one.value === null ? "" : `${question.unit} ${figure(one.value, 5)}${one.rank === 1 ? "" : `, rank ${one.rank}`}`;
  const body = el("div", { class: "trace" });
  const fold = el("details", { class: "decision", ontoggle: () => {
    if (!fold.open || body.childElementCount) return;
    if (!trace) {
      body.replaceChildren(el("p", { class: "muted" }, report.traces || "No trace of this decision was stored."));
      return;
    }
    body.replaceChildren(...passages(trace));
  } }, el("summary", {}, mark(one.outcome), el("span", { class: "who" }, who),
    el("span", { class: "muted" }, one.database, isRepeated(report, one) ? `, epoch ${one.epoch}` : ""),
    el("span", { class: "choice" }, one.choice === null ? OUTCOMES[one.outcome] : el("bdi", {}, shortened(one.choice, 60))),
    el("span", { class: "muted worth" }, worth),
    el("span", { class: "muted took" }, `${counted(one.steps, "reply", "replies")}, ${counted(one.statements, "statement")}${one.tokens ? `, ${figure(one.tokens)} tokens` : ""}`)), body);
  return fold;
}
