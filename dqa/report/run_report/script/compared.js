// Every two deciders on the questions that both answered; the plot has those with the best one.
function turned(pair, last) {
  const one = pair.figures;
  const back = pair.second === last ? 1 : -1;
  const difference = (found) => found && {
    value: back * found.value,
    low: found.low === null ? null : Math.min(back * found.low, back * found.high),
    high: found.high === null ? null : Math.max(back * found.low, back * found.high),
  };
  const { better, worse, equal } = one.by_questions;
  return {
    first: back === 1 ? pair.first : pair.second, second: last, accuracy: difference(one.accuracy), regret: difference(one.relative_regret),
    better: back === 1 ? better : worse, worse: back === 1 ? worse : better, equal,
    questions: one.holm_by_questions, situations: one.holm_by_situations,
    pairs: one.accuracy.pairs, clusters: one.accuracy.clusters,
  };
}

function points(found, digits = 1) {
  if (found === null) return "–";
  const value = Number((100 * found).toFixed(digits));
  return `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(value).toFixed(digits)}`;
}

function pointsBetween(found) {
  return !found || found.low === null ? "" : `${points(found.low)} to ${points(found.high)}`;
}

function probability(found) {
  return found === null ? "–" : found < 0.001 ? "<0.001" : found.toFixed(3);
}

function forestPlot(report, rows, best) {
  const name = (place) => report.contestants[place].name;
  const title = `Accuracy minus that of ${name(best)}, in points`;
  return fitted((width) => {
    const names = nameColumn(rows.map((one) => name(one.first)), width);
    const { left } = names;
    const tall = Math.max(22, 6 + Math.max(...rows.map((one) => names.height(name(one.first)))));
    const right = width - 64;
    const ends = rows.flatMap(({ accuracy }) => [accuracy.value, accuracy.low ?? accuracy.value, accuracy.high ?? accuracy.value, 0]);
    const [low, high] = [Math.min(...ends, -0.05) - 0.01, Math.max(...ends, 0.05) + 0.01];
    const height = 12 + tall * rows.length;
    const x = (value) => left + ((value - low) / (high - low)) * (right - left);
    const lines = ticks(100 * low, 100 * high, Math.max(3, Math.floor((right - left) / 70))).map((tick) => [
      svg("line", { x1: x(tick / 100), x2: x(tick / 100), y1: 4, y2: height, class: tick === 0 ? "zero" : "axis" }),
      text(x(tick / 100), height + 14, points(tick / 100, 0), { class: "tick", "text-anchor": "middle" })]);
    const marks = rows.map((one, row) => {
      const y = 5 + tall * (row + 0.5);
      const { value, low: from, high: to } = one.accuracy;
      return svg("g", { class: `c${one.first % 8}` }, svg("title", {}, `${name(one.first)} minus ${name(best)}: ${points(value)} points, 95 % interval ${pointsBetween(one.accuracy)}`),
        from === null ? null : svg("line", { x1: x(from), x2: x(to), y1: y, y2: y, class: "whisker" }),
        shape(one.first, x(value), y, 4.5, { class: "point" }),
        names.draw(name(one.first), y),
        text(width - 4, y + 4, points(value), { class: "value", "text-anchor": "end" }));
    });
    return frame(width, height + 20, title, lines, marks);
  });
}

function pairsTable(report, rows, named) {
  const shared = rows.some((one) => one.clusters < one.pairs);
  const regrets = rows.some((one) => one.regret);
  const title = (words, below) => el("th", { scope: "col", class: "number" }, words, below ? el("small", {}, below) : null);
  const difference = (found) => el("td", { class: "number" }, found ? points(found.value) : "–", el("small", {}, pointsBetween(found)));
  return el("div", { class: "wide" }, el("table", { class: "pairs" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Decider"), title("Accuracy", "difference in points"), title("Better on", "questions"), title("Worse on", "questions"),
      title("p by questions", "McNemar"), shared ? title("p by situations") : null,
      regrets ? title("Regret", "difference in points") : null, title("Compared on"))),
    el("tbody", {}, rows.map((one) => el("tr", {}, el("th", { scope: "row" }, breakable(report.contestants[one.first].name),
      named ? el("small", {}, "minus ", breakable(report.contestants[one.second].name)) : null),
      difference(one.accuracy), el("td", { class: "number" }, one.better), el("td", { class: "number" }, one.worse),
      el("td", { class: "number" }, probability(one.questions)), shared ? el("td", { class: "number" }, probability(one.situations)) : null,
      regrets ? difference(one.regret) : null,
      el("td", { class: "number" }, counted(one.pairs, "answer"), shared ? el("small", {}, counted(one.clusters, "situation")) : null))))));
}

function comparison(report) {
  const { best } = report;
  const withBest = report.pairs.filter((pair) => pair.first === best || pair.second === best).map((pair) => turned(pair, best));
  const others = report.pairs.filter((pair) => pair.first !== best && pair.second !== best).map((pair) => turned(pair, pair.second));
  const who = el("bdi", {}, report.contestants[best].name);
  const corrected = report.pairs.length > 1 ? `; p-values are corrected for all ${report.pairs.length} pairs (Holm)` : "";
  return [
    el("p", { class: "muted small" }, "Each decider minus ", who, ", which is right most often, on the questions that both answered: differences with 95 % intervals", corrected, "."),
    el("div", { class: "compared" }, el("figure", { class: "chart" }, forestPlot(report, withBest, best)), pairsTable(report, withBest, false)),
    others.length ? el("details", { class: "figures" }, el("summary", {}, "The other pairs"), pairsTable(report, others, true)) : null,
  ];
}
