// Charts are tables with a drawing in one column and numbers in the others. Positions in a drawing
// are in percent of the column, so that drawings fit any width.
const at = (share) => `${(100 * share).toFixed(2)}%`;

function strip(...marks) {
  return el("td", { class: "drawing" }, svg("svg", { class: "strip", "aria-hidden": "true" }, marks));
}

function line(from, to, kind) {
  return svg("line", { x1: at(from), x2: at(to), y1: 10, y2: 10, class: kind });
}

function across(share, kind) {
  return svg("line", { x1: at(share), x2: at(share), y1: -8, y2: 30, class: kind });
}

function point(share, color, open = false) {
  return svg("circle", { cx: at(share), cy: 10, r: 4.5, class: `point c${color % 8} ${open ? "open" : ""}` });
}

// The heading of a drawing's column. `ticks` are pairs of a position (a share of the width) and a label.
function axis(ticks) {
  const marks = ticks.map(([share, words]) => text(at(share), 12, words, { class: "tick", "text-anchor": "middle" }));
  return el("th", { scope: "col", class: "drawing" }, svg("svg", { class: "strip", "aria-hidden": "true" }, marks));
}

const PERCENT = [0, 0.5, 1].map((share) => [share, `${100 * share}`]);
const percentGrid = () => [0, 0.25, 0.5, 0.75, 1].map((share) => across(share, "axis"));

function chart(title, about, titles, rows, ...below) {
  return el("figure", { class: "chart" }, el("figcaption", {}, el("h3", {}, title), el("p", { class: "muted" }, about)),
    table(titles, rows, { class: "figures" }), below);
}

function nameCell(name) {
  return el("th", { scope: "row" }, breakable(name));
}

// Sorts items by decreasing worth. Equal items keep their order; items without a worth are last.
function bestFirst(items, worth) {
  const known = new Map(items.map((item) => [item, worth(item) ?? -1]));
  return [...items].sort((one, other) => known.get(other) - known.get(one));
}

function meanOf(shares) {
  const known = shares.filter((share) => share !== null);
  return known.length ? known.reduce((sum, share) => sum + share, 0) / known.length : null;
}

// Contestants with their cells, sorted by the mean over all databases.
function byContestant(report, cells) {
  const shown = report.contestants.map((one) => ({
    name: one.name, cells: cells.filter((cell) => cell.contestant === one),
  })).filter((one) => one.cells.length);
  return bestFirst(shown, (one) => meanOf(one.cells.map((cell) => cell.share)));
}

// Rows with a share, the line from `low` to `high`, and further columns of figures.
function shareRows(report, shown, references, more) {
  return shown.flatMap((one) => one.cells.map((cell, row) => {
    const marks = cell.share === null ? [] : [line(cell.low, cell.high, "whisker"), point(cell.share, report.databases.indexOf(cell.database))];
    const own = references.map(([share, kind]) => across(share, kind));
    return el("tr", { class: row ? "again" : null }, row ? el("td", {}) : nameCell(one.name), el("td", {}, cell.database),
      strip(percentGrid(), own, marks), more(cell).map((value) => number(value)));
  }));
}

function accuracyChart(report, scenario) {
  const cells = report.contestants.flatMap(accuracyCells).filter((one) => one.scenario === scenario);
  if (!cells.some((cell) => cell.share !== null)) {
    return el("figure", { class: "chart" }, el("figcaption", {}, el("h3", {}, capital(scenario)),
      el("p", { class: "muted" }, "No decision could be judged.")));
  }
  const ofRuns = (name) => report.runs.flatMap((run) => run[name]).filter((one) => one.scenario === scenario);
  const [shortcuts, chance] = [ofRuns("shortcuts"), ofRuns("chance")];
  const said = [...shortcuts.map((one) => `The line is the best shortcut, ${one.name} (${percent(one.right / one.questions)}).`),
    ...chance.map((one) => `The dashed line is chance (${percent(one.share)}).`)];
  return chart(capital(scenario), ["Right answers in %, with 95 % intervals. The best decider is first.", ...said].join(" "),
    ["Decider", "Database", axis(PERCENT), "#Accuracy", "#95 % interval", "#Right", "#By questions", "#Situations"],
    shareRows(report, byContestant(report, cells),
      [...shortcuts.map((one) => [one.right / one.questions, "reference shortcut"]), ...chance.map((one) => [one.share, "reference"])],
      (cell) => [percent(cell.accuracy), interval(cell.low, cell.high), `${cell.correct}/${cell.judged}`,
        interval(...cell.byQuestions), figure(cell.situations)]));
}

function epochsChart(report, scenario) {
  const cells = report.contestants.flatMap((contestant) => contestant.epochs.filter((one) => one.scenario === scenario && one.pass_rates.length).map((figures) => {
    const last = figures.pass_rates[figures.pass_rates.length - 1];
    return { ...figures, contestant, last, share: figures.pass_rates[0].at_k.value, low: last.all_k.value, high: last.at_k.value };
  }));
  if (!cells.length) return null;
  const k = Math.max(...cells.map((cell) => cell.last.k));
  const rate = (found) => [percent(found.value), el("small", {}, interval(found.low, found.high))];
  return chart(`${capital(scenario)}: ${cells[0].epochs} epochs`,
    `A point is the share of right answers in one attempt (pass@1). Its line begins at the share of questions that are right in all ${k} attempts (pass^${k}), and ends at the share of questions that are right in at least one (pass@${k}). The best decider in one attempt is first.`,
    ["Decider", "Database", axis(PERCENT), "#Questions", "#pass@1", `#pass@${k}`, `#pass^${k}`],
    shareRows(report, byContestant(report, cells), [], (cell) => [cell.questions, rate(cell.pass_rates[0].at_k),
      rate(cell.last.at_k), rate(cell.last.all_k)]));
}

function spendingOf(report) {
  for (const name of ["cost", "tokens"]) {
    if (report.contestants.some((one) => spentBy(one, name))) return [name, name];
  }
  return ["steps", "model replies"];
}

function spendingChart(report) {
  const [field, name] = spendingOf(report);
  const points = bestFirst(report.contestants.filter((one) => accuracyOf(one) !== null && spentBy(one, field) !== null), accuracyOf);
  const most = Math.max(0, ...points.map((one) => spentBy(one, field)));
  if (!most) return null;
  const height = 230;
  const y = (share) => 20 + (1 - share) * (height - 30);
  const x = (one) => at(0.06 + 0.9 * spentBy(one, field) / most);
  const lines = PERCENT.map(([share, words]) => [
    svg("line", { x1: "5%", x2: "100%", y1: y(share), y2: y(share), class: "axis" }),
    text("4%", y(share) + 4, words, { class: "tick", "text-anchor": "end" })]);
  const ticks = [0, 0.5, 1].map((share) => text(at(0.06 + 0.9 * share), height + 14, figure(share * most, 3), { class: "tick", "text-anchor": "middle" }));
  // Points that nearly overlap share a label with the numbers of their rows in the table below.
  const groups = [];
  points.forEach((one, place) => {
    const [left, top] = [spentBy(one, field) / most, y(accuracyOf(one))];
    const near = groups.find((group) => Math.abs(group.left - left) < 0.1 && Math.abs(group.top - top) < 14);
    if (near) near.places.push(place + 1);
    else groups.push({ left, top, one, places: [place + 1] });
  });
  const labels = groups.map(({ left, top, one, places }) =>
    text(x(one), top - 9, places.join(", "), { class: "name", "text-anchor": left > 0.5 ? "end" : "start" }));
  const marks = points.map((one, place) => svg("g", { class: `c${place % 8}` },
    svg("title", {}, `${one.name}: ${percent(accuracyOf(one))} for ${figure(spentBy(one, field))} ${name} per question`),
    intervalOf(one)[0] === null ? null : svg("line", { x1: x(one), x2: x(one), y1: y(intervalOf(one)[0]), y2: y(intervalOf(one)[1]), class: "whisker thin" }),
    svg("circle", { cx: x(one), cy: y(accuracyOf(one)), r: 5, class: "point" })));
  const title = `Accuracy against ${name} per question`;
  const drawing = svg("svg", { class: "plot", height: height + 20, role: "img", "aria-label": title }, svg("title", {}, title), lines, ticks, marks, labels);
  const found = chart(`Accuracy against ${name}`, `Accuracy in %, with its 95 % interval. Better deciders are further up and to the left.`,
    ["#No.", "Decider", "#Accuracy", `#${capital(name)} per question`, ...(field === "cost" ? ["#Cost per right answer"] : [])],
    points.map((one, place) => el("tr", {}, number(place + 1), nameCell(one.name), number(percent(accuracyOf(one))), number(figure(spentBy(one, field))),
      field === "cost" ? number(figure(one.figures.efficiency.money?.per_right?.value)) : null)));
  found.querySelector("figcaption").after(drawing);
  return found;
}

const ENDED = { correct: "s0", wrong: "c1", forbidden: "c2", no_candidate: "c4", ambiguous: "c3", step_limit: "c6", unparsable: "c7", no_decision: "c5", infrastructure: "u0", budget: "u1", stopped: "u2", crashed: "u3", unlabelled: "snone" };

// Stacked bars with the outcomes of all decisions.
function outcomesChart(report) {
  const decisions = report.questions.flatMap((question) => question.decisions);
  const shown = bestFirst(report.contestants.map((one, place) => ({
    one, outcomes: decisions.filter(({ contestant }) => contestant === place).map(({ outcome }) => outcome),
  })), ({ one }) => accuracyOf(one));
  const parts = Object.keys(ENDED).filter((part) => decisions.some(({ outcome }) => outcome === part));
  const heads = parts.map((part) => el("th", { scope: "col", class: "number" }, el("span", { class: `swatch ${ENDED[part]}` }), ` ${OUTCOMES[part]}`));
  return chart("Outcomes", "Outcomes of all decisions. The decider with the highest accuracy is first.", ["Decider", axis(PERCENT), ...heads, "#of"],
    shown.map(({ one, outcomes }) => {
      const counts = parts.map((part) => outcomes.filter((outcome) => outcome === part).length);
      let end = 0;
      const bars = counts.map((count, place) => {
        const begin = end;
        end += count / outcomes.length;
        return svg("rect", { x: at(begin), width: at(count / outcomes.length), y: 1, height: 18, class: `bar ${ENDED[parts[place]]}` });
      });
      return el("tr", {}, nameCell(one.name), strip(bars), counts.map((count) => number(count)), number(outcomes.length));
    }));
}

function charts(report) {
  return [
    ...report.scenarios.map((scenario) => accuracyChart(report, scenario)),
    ...report.scenarios.map((scenario) => epochsChart(report, scenario)),
    spendingChart(report),
    outcomesChart(report),
  ].filter(Boolean);
}

// Converts a comparison of two deciders, so that `last` is the second one.
function turned(one, last) {
  const back = one.second === last ? 1 : -1;
  const difference = (found) => found && {
    value: back * found.value,
    low: found.low === null ? null : Math.min(back * found.low, back * found.high),
    high: found.high === null ? null : Math.max(back * found.low, back * found.high),
  };
  const { better, worse } = one.by_questions;
  return {
    first: back === 1 ? one.first : one.second, second: last, accuracy: difference(one.accuracy), regret: difference(one.relative_regret),
    better: back === 1 ? better : worse, worse: back === 1 ? worse : better,
    questions: one.holm_by_questions, situations: one.holm_by_situations,
    pairs: one.accuracy.pairs, clusters: one.accuracy.clusters,
  };
}

function points(found) {
  if (found === null) return "–";
  const value = Number((100 * found).toFixed(1));
  return `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(1)}`;
}

function probability(found) {
  return found === null ? "–" : found < 0.001 ? "<0.001" : found.toFixed(3);
}

function difference(found) {
  if (!found) return number("–");
  return number(points(found.value), el("small", {}, found.low === null ? "" : `${points(found.low)} to ${points(found.high)}`));
}

function pairsTable(report, rows) {
  const shared = rows.some((one) => one.clusters < one.pairs);
  const regrets = rows.some((one) => one.regret);
  const x = (value) => 0.5 + value / 2; // from -100 to +100 points
  const ticks = [-1, 0, 1].map((value) => [x(value), points(value).replace(".0", "")]);
  const titles = ["Decider", axis(ticks), "#Accuracy, points", "#Better on", "#Worse on", "#p by questions",
    ...(shared ? ["#p by situations"] : []), ...(regrets ? ["#Regret, points"] : []), "#Compared on"];
  return table(titles, rows.map((one) => {
    const { value, low, high } = one.accuracy;
    const marks = [ticks.map(([share]) => across(share, share === 0.5 ? "zero" : "axis")),
      low === null ? null : line(x(low), x(high), "whisker"), point(x(value), report.contestants.findIndex((found) => found.name === one.first))];
    return el("tr", {}, el("th", { scope: "row" }, breakable(one.first),
      el("small", {}, "minus ", breakable(one.second))), strip(marks), difference(one.accuracy),
    number(one.better), number(one.worse), number(probability(one.questions)), shared ? number(probability(one.situations)) : null,
    regrets ? difference(one.regret) : null, number(counted(one.pairs, "answer"), shared ? el("small", {}, counted(one.clusters, "situation")) : null));
  }), { class: "pairs figures" });
}

function comparison(report) {
  const { best } = report;
  const withBest = report.pairs.filter((pair) => pair.first === best || pair.second === best).map((pair) => turned(pair, best));
  const others = report.pairs.filter((pair) => pair.first !== best && pair.second !== best).map((pair) => turned(pair, pair.second));
  const who = el("bdi", {}, best);
  const corrected = report.pairs.length > 1 ? ` P-values are corrected for all ${report.pairs.length} pairs (Holm).` : "";
  return [
    el("p", { class: "muted small" }, "Each decider is compared with ", who, ", which is right most often, on the questions that both answered. Differences have 95 % intervals. P-values by questions are from McNemar's test.", corrected),
    pairsTable(report, withBest),
    others.length ? el("details", {}, el("summary", {}, "The other pairs"), pairsTable(report, others)) : null,
  ];
}
