// The charts of the summary. Each is drawn for the width that it has, with its figures below.
const INK = { class: "ink" };
const AXIS = { class: "axis" };

function chart(title, about, draw, titles, rows) {
  return el("figure", { class: "chart" },
    el("figcaption", {}, el("h3", {}, title), about ? el("p", { class: "muted" }, about) : null),
    draw, figuresTable(titles, rows));
}

function frame(width, height, title, ...children) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
    svg("title", {}, title), children);
}

// The names beside a chart's rows: how wide they are, how high each, and what draws one around `y`.
function nameColumn(names, width) {
  const longest = Math.max(...names.map((name) => widthOf(name)));
  const left = Math.min(14 + longest, Math.max(140, 0.36 * width));
  const linesOf = (name) => nameLines(name, left - 12);
  return {
    left,
    height: (name) => 13 * linesOf(name).length,
    draw: (name, y) => {
      const lines = linesOf(name);
      return svg("text", { class: "name", "text-anchor": "end" }, svg("title", {}, name), lines.map((line, row) =>
        svg("tspan", { x: left - 10, y: y + 4 + 13 * (row - (lines.length - 1) / 2) }, line)));
    },
  };
}

function percentAxis(left, right, top, bottom) {
  const x = (share) => left + share * (right - left);
  const step = right - left < 260 ? 0.5 : 0.25;
  const lines = [];
  for (let share = 0; share <= 1.001; share += step) {
    lines.push(svg("line", { x1: x(share), x2: x(share), y1: top, y2: bottom, ...AXIS }));
    lines.push(text(x(share), bottom + 14, `${Math.round(100 * share)}`, { class: "tick", "text-anchor": "middle" }));
  }
  return [x, lines];
}

// Shares of deciders on databases as points, each with the line from `low` to `high` around it.
function sharesChart(report, title, shown, described, references = []) {
  return fitted((width) => {
    const names = nameColumn(shown.map(({ name }) => name), width);
    const { left } = names;
    const right = width - 74;
    const rowOf = (one) => Math.max(16 * one.cells.length, names.height(one.name) - 6);
    const height = shown.reduce((sum, one) => sum + 14 + rowOf(one), 26);
    const [x, lines] = percentAxis(left, right, 16, height);
    const marks = [];
    let y = 26;
    for (const one of shown) {
      const below = y + rowOf(one) + 14;
      const middle = (y + below - 30) / 2;
      marks.push(names.draw(one.name, middle));
      y = middle - 8 * (one.cells.length - 1);
      for (const cell of one.cells) {
        const place = report.databases.indexOf(cell.database);
        if (cell.share !== null) {
          marks.push(svg("g", { class: `c${place % 8}` }, svg("title", {}, `${one.name} on ${cell.database}: ${described(cell)}`),
            svg("line", { x1: x(cell.low), x2: x(cell.high), y1: y, y2: y, class: "whisker" }),
            shape(place, x(cell.share), y, 4.5, { class: "point" })));
          marks.push(text(width - 4, y + 4, percent(cell.share), { class: "value", "text-anchor": "end" }));
        }
        y += 16;
      }
      y = below;
    }
    for (const [share, name, kind] of references) {
      if (share === null) continue;
      const anchor = share > 0.8 ? "end" : share < 0.15 ? "start" : "middle";
      marks.unshift(svg("line", { x1: x(share), x2: x(share), y1: 14, y2: height, class: `reference ${kind}` }),
        text(x(share), 9, name, { class: "tick", "text-anchor": anchor }));
    }
    return frame(width, height + 20, title, lines, marks);
  });
}

// Contestants with their cells, the best on the mean of all databases first; those that are as
// good stay in the run's order, and those of whom nothing could be judged come last.
function byContestant(report, cells) {
  const shown = report.contestants.map((one, place) => ({
    name: one.name, cells: cells.filter((cell) => cell.contestant === place),
  })).filter((one) => one.cells.length);
  return bestFirst(shown, (one) => meanOf(one.cells.map((cell) => cell.share)));
}

function bestFirst(items, worth) {
  const known = new Map(items.map((item) => [item, worth(item) ?? -1]));
  return [...items].sort((one, other) => known.get(other) - known.get(one));
}

function meanOf(shares) {
  const known = shares.filter((share) => share !== null);
  return known.length ? known.reduce((sum, share) => sum + share, 0) / known.length : null;
}

function accuracyChart(report, scenario) {
  const shown = byContestant(report, report.accuracies.filter((one) => one.scenario === scenario)
    .map((one) => ({ ...one, share: one.accuracy })));
  const references = report.references.filter((one) => one.scenario === scenario);
  const described = (cell) => `${percent(cell.share)} (${cell.correct}/${cell.judged}), 95 % interval ${interval(cell.low, cell.high)}`;
  const about = references.length && references[0].shortcut
    ? `Right answers in %, with 95 % intervals, the best decider first. The best shortcut is ${references[0].shortcut}.`
    : "Right answers in %, with 95 % intervals, the best decider first.";
  if (!shown.some((one) => one.cells.some((cell) => cell.share !== null))) {
    return el("figure", { class: "chart" }, el("figcaption", {}, el("h3", {}, capital(scenario)),
      el("p", { class: "muted" }, "No decision could be judged, so there is no accuracy to draw. What became of each stands below.")));
  }
  return chart(capital(scenario), about,
    sharesChart(report, `Accuracy: ${scenario}`, shown, described, references.flatMap((one) =>
      [[one.shortcut_share, "best shortcut", "shortcut"], [one.chance, "chance", "chance"]])),
    ["Decider", "Database", "Right", "Judged", "Accuracy", "95 % interval", "By questions", "Situations"],
    shown.flatMap((one) => one.cells.map((cell) => [one.name, cell.database, cell.correct, cell.judged,
      percent(cell.accuracy), interval(cell.low, cell.high), interval(cell.wilson_low, cell.wilson_high), figure(cell.situations)])));
}

function epochsChart(report, scenario) {
  const cells = report.epochs.filter(({ figures }) => figures.scenario === scenario && figures.pass_rates.length).map(({ contestant, figures }) => {
    const last = figures.pass_rates[figures.pass_rates.length - 1];
    return { ...figures, contestant, last, share: figures.pass_rates[0].at_k.value, low: last.all_k.value, high: last.at_k.value };
  });
  if (!cells.length) return null;
  const shown = byContestant(report, cells);
  const k = Math.max(...cells.map((cell) => cell.last.k));
  const described = (cell) => `right ${percent(cell.share)} of the time; in all of ${cell.last.k} attempts ${percent(cell.low)}, in any ${percent(cell.high)}`;
  const rate = (found) => `${percent(found.value)}${found.low === null ? "" : ` [${interval(found.low, found.high)}]`}`;
  const within = ({ within: own, between }) => (own === null || between === null ? "–" : own + between ? percent(own / (own + between), 0) : "none");
  return chart(`${capital(scenario)}: ${cells[0].epochs} epochs`,
    `A point is one attempt (pass@1); its line goes from questions right in all of ${k} attempts (pass^${k}) to those right in any (pass@${k}). Who is best in one attempt comes first.`,
    sharesChart(report, `Epochs: ${scenario}`, shown, described),
    ["Decider", "Database", "Questions", "pass@1", `pass@${k}`, `pass^${k}`, "Variance within questions", "Deviation of epochs"],
    shown.flatMap((one) => one.cells.map((cell) => [one.name, cell.database, cell.questions, rate(cell.pass_rates[0].at_k),
      rate(cell.last.at_k), rate(cell.last.all_k), within(cell), percent(cell.spread)])));
}

function spendingOf(report) {
  for (const [field, name] of [["cost", "cost"], ["tokens", "tokens"]]) {
    if (report.totals.some((one) => one[field])) return [field, name];
  }
  return ["steps", "model replies"];
}

// Points that a reader cannot tell apart, since they are drawn in one place.
function pointGroups(places) {
  const groups = [];
  places.forEach(([x, y], place) => {
    const near = groups.find((one) => Math.hypot(one.x - x, one.y - y) < 9);
    if (near) near.members.push(place);
    else groups.push({ x, y, members: [place] });
  });
  return groups;
}

// Where every group's lines may stand beside it, on no point and within the room.
function roomFor({ x, y }, lines, points, [left, top, right, bottom]) {
  const [width, height] = [Math.max(...lines.map((line) => widthOf(line))), 13 * lines.length];
  return [8, -height / 2, -height - 4].flatMap((dy) => [11, -11 - width].map((dx) => [x + dx, y + dy, x + dx + width, y + dy + height]))
    .filter((box) => box[0] >= left && box[2] <= right && box[1] >= top - 8 && box[3] <= bottom && !points.some((one) => overlap(box, one)));
}

// Whether two boxes, each from its left and top to its right and bottom, share any room.
function overlap([left, top, right, bottom], [otherLeft, otherTop, otherRight, otherBottom]) {
  return left < otherRight && otherLeft < right && top < otherBottom && otherTop < bottom;
}

// A choice of one box a group, none on another; null where few tries find none.
function chosenBoxes(choices) {
  let tries = 2000;
  const choose = (taken) => {
    if (taken.length === choices.length) return taken;
    for (const box of choices[taken.length]) {
      tries -= 1;
      if (tries < 0) return null;
      if (taken.some((one) => overlap(box, one))) continue;
      const found = choose([...taken, box]);
      if (found) return found;
    }
    return null;
  };
  return choose([]);
}

function placed(groups, linesOf, room) {
  const points = groups.map(({ x, y }) => [x - 7, y - 7, x + 7, y + 7]);
  const lines = groups.map(linesOf);
  const boxes = chosenBoxes(groups.map((group, place) => roomFor(group, lines[place], points, room)));
  return boxes && boxes.map(([x, y], place) => lines[place].map((line, row) => text(x, y + 11 + 13 * row, line, { class: "name" })));
}

// Names beside points; numbers, which a list below tells, where there is no room for the names.
function pointLabels(places, names, room) {
  const groups = pointGroups(places);
  const drawn = placed(groups, ({ members }) => members.map((place) => names[place]), room);
  if (drawn) return { drawn, numbered: false };
  const numbers = ({ members }) => {
    const lines = [""];
    for (const place of members) {
      const last = lines[lines.length - 1];
      if (widthOf(`${last}, ${place + 1}`) > 90) lines.push(`${place + 1}`);
      else lines[lines.length - 1] = last ? `${last}, ${place + 1}` : `${place + 1}`;
    }
    return lines;
  };
  const beside = ({ x, y, members }) => text(x + 9, y + 4, numbers({ members }).join(", "), { class: "name" });
  return { drawn: placed(groups, numbers, room) || groups.map(beside), numbered: true };
}

function spendingChart(report) {
  const [field, name] = spendingOf(report);
  const points = bestFirst(report.totals.filter((one) => one.accuracy !== null && one[field] !== null), (one) => one.accuracy);
  if (!points.length) return null;
  const front = points.filter((one) => one.pareto).sort((a, b) => a[field] - b[field]);
  const title = `Accuracy against ${name} a question`;
  const draw = fitted((width) => {
    const [left, right, top, height] = [34, width - 14, 14, 264];
    const [first, ground] = [left + 10, height - 10]; // a point on an axis is whole
    const largest = Math.max(...points.map((one) => one[field]), 1e-9) * 1.08;
    const lowest = Math.max(0, Math.floor(10 * Math.min(...points.map((one) => one.low ?? 0)) - 0.5) / 10);
    const x = (value) => first + (value / largest) * (right - first);
    const y = (share) => top + ((1 - share) / (1 - lowest || 1)) * (ground - top);
    const lines = [];
    for (const share of ticks(lowest, 1, 5)) {
      lines.push(svg("line", { x1: left, x2: right, y1: y(share), y2: y(share), ...AXIS }),
        text(left - 6, y(share) + 4, `${Math.round(100 * share)}`, { class: "tick", "text-anchor": "end" }));
    }
    for (const value of ticks(0, largest, Math.max(2, Math.floor(width / 90)))) {
      lines.push(text(x(value), height + 16, figure(value, 3), { class: "tick", "text-anchor": "middle" }));
    }
    lines.push(text(right, height + 33, `${name} a question`, { class: "tick", "text-anchor": "end" }));
    if (front.length) {
      const steps = front.map((one, place) => place
        ? `H${x(one[field])}V${y(one.accuracy)}` : `M${x(one[field])} ${y(one.accuracy)}`).join("");
      lines.push(svg("path", { d: `${steps}H${right}`, class: "front" }));
    }
    const places = points.map((one) => [x(one[field]), y(one.accuracy)]);
    const names = points.map((one) => report.contestants[one.contestant].name);
    const labels = pointLabels(places, names, [left + 2, top, right, height]);
    const marks = points.map((one, place) => {
      const [cx, cy] = places[place];
      const described = `${names[place]}: ${percent(one.accuracy)} (${interval(one.low, one.high)}) for ${figure(one[field])} ${name} a question${one.pareto ? "; on the Pareto front" : ""}`;
      return svg("g", { class: `c${one.contestant % 8}` }, svg("title", {}, described),
        one.low === null ? null : svg("line", { x1: cx, x2: cx, y1: y(one.low), y2: y(one.high), class: "whisker thin" }),
        shape(one.contestant, cx, cy, one.pareto ? 6 : 4.5, { class: one.pareto ? "point" : "point open" }));
    });
    const key = labels.numbered ? el("ol", { class: "legend numbered" }, names.map((who) => el("li", {}, breakable(who)))) : null;
    return el("div", {}, frame(width, height + 38, title, lines, marks, labels.drawn), key);
  });
  const about = `Accuracy in %, with its 95 % interval. The dashed line is the Pareto front: who is on it (filled) is beaten by nobody both in accuracy and in ${name}.`;
  const money = points.some((one) => one.cost !== null);
  return chart(`Accuracy against ${name}`, about, draw,
    ["Decider", "Accuracy", `${capital(name)} a question`, ...(money ? ["Cost a right answer"] : []), "On the front"],
    points.map((one) => [report.contestants[one.contestant].name, percent(one.accuracy), figure(one[field]),
      ...(money ? [figure(one.cost_per_right)] : []), one.pareto ? "yes" : "no"]));
}

// Bars of parts that are a whole; `tones` are the classes of their colours, `nameOf` what a part is
// called, and `withRight` whether it is told how many of each part were right.
function stackedChart(report, kind, title, about, tones, nameOf = (part) => part, withRight = false) {
  const shares = report.shares.filter((one) => one.chart === kind && one.of);
  const accuracyOf = new Map(report.totals.map((one) => [one.contestant, one.accuracy]));
  const shown = bestFirst([...new Set(shares.map((one) => one.contestant))], (contestant) => accuracyOf.get(contestant));
  if (!shown.length) return null;
  const parts = Object.keys(tones).filter((part) => shares.some((one) => one.part === part && one.count));
  const draw = fitted((width) => {
    const names = shown.map((place) => report.contestants[place].name);
    const column = nameColumn(names, width);
    const { left } = column;
    const right = width - 16;
    const rowHeight = Math.max(28, 8 + Math.max(...names.map(column.height)));
    const height = 8 + rowHeight * shown.length;
    const [, lines] = percentAxis(left, right, 4, height);
    const bars = shown.map((place, row) => {
      const own = shares.filter((one) => one.contestant === place);
      let end = left;
      const middle = 4.5 + rowHeight * (row + 0.5);
      return [column.draw(names[row], middle),
        parts.map((part) => {
          const one = own.find((share) => share.part === part);
          if (!one || !one.count) return null;
          const length = (one.count / one.of) * (right - left);
          const begin = end;
          end += length;
          const ofThemRight = withRight ? `, ${percent(one.correct / one.count)} of them right` : "";
          const described = `${names[row]}, ${nameOf(part)}: ${one.count} of ${one.of} (${percent(one.count / one.of)})${ofThemRight}`;
          const label = `${one.count}`;
          return svg("g", { class: tones[part] }, svg("title", {}, described),
            svg("rect", { x: begin, y: middle - 9.5, width: Math.max(0.75, length - 1), height: 19, class: "bar" }),
            length > 8 * label.length + 6
              ? text(begin + length / 2, middle + 4.5, label, { class: "inside", "text-anchor": "middle" }) : null);
        })];
    });
    return frame(width, height + 20, title, lines, bars);
  });
  const legend = el("ul", { class: "legend" }, parts.map((part) =>
    el("li", {}, el("span", { class: `swatch ${tones[part]}` }), nameOf(part))));
  return chart(title, `${about} Who is right most often comes first.`, el("div", {}, draw, legend),
    ["Decider", ...parts.map(nameOf), "of"],
    shown.map((place) => [report.contestants[place].name, ...parts.map((part) => {
      const one = shares.find((share) => share.contestant === place && share.part === part);
      if (!one || !one.count) return "0";
      return withRight ? `${one.count} (${percent(one.correct / one.count)} right)` : one.count;
    }), shares.find((share) => share.contestant === place).of]));
}

const REGRETS = { none: "s0", "up to 1 %": "s1", "up to 10 %": "s2", "up to 50 %": "s3", "up to 100 %": "s4", "more: worse than nothing": "s5", "no choice": "snone" };
const REPLANNED = { 0: "s0", 1: "s1", 2: "s2", 3: "s3", "4 and more": "s4" };
const TIMES = { 0: "not once", 1: "once", 2: "twice", 3: "3 times", "4 and more": "4 times and more" };
const FAILED = { correct: "s0", wrong: "c1", no_candidate: "c4", ambiguous: "c3", step_limit: "c6", unparsable: "c7", no_decision: "c5", infrastructure: "u0", budget: "u1", stopped: "u2", crashed: "u3", unlabelled: "snone" };
const CLASSES = { CAN: "c1", MIS: "c2", DEEP: "c3", QUR: "c4", OTH: "c5" };

function charts(report) {
  return [
    ...report.scenarios.map((scenario) => accuracyChart(report, scenario)),
    ...report.scenarios.map((scenario) => epochsChart(report, scenario)),
    spendingChart(report),
    stackedChart(report, "failures", "What became of the decisions", "Of all decisions, in %; the number in a part is how many.", FAILED, (part) => OUTCOMES[part]),
    stackedChart(report, "classes", "Failures by class", "Of all judged decisions, in % (the classes of the PlanRAG paper, Figure 6); the number in a part is how many.", CLASSES),
    stackedChart(report, "regret", "Regret", "How much of the best decision's gain was given away, in % of the judged decisions; the number in a part is how many.", REGRETS),
    stackedChart(report, "replanning", "Re-plannings", "How many decisions were planned anew, and how often, in %; the number in a part is how many.", REPLANNED, (part) => TIMES[part], true),
  ].filter(Boolean);
}
