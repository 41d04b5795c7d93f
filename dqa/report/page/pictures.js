// What a decision turns on: a graph in layers, and what every candidate leads to.
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

function graph(picture, unit, goal, best, chosenBy) {
  const layers = [...new Set(picture.nodes.map((node) => node.layer))].sort((a, b) => a - b);
  const columns = layers.map((layer) => picture.nodes.filter((node) => node.layer === layer));
  const values = picture.nodes.map((node) => node.value).filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const radius = (node) => {
    if (node.shape === "dot") return 3.5;
    if (node.value === null || most === least) return 5;
    const share = (node.value - least) / (most - least);
    return 4 + 8 * Math.sqrt(goal === "minimise" ? 1 - share : share);
  };
  const tall = Math.max(...columns.map((column) => column.reduce((sum, node) => sum + (node.shape === "dot" ? 26 : 38), 0)));
  const [width, height] = [Math.max(520, 132 * layers.length), Math.max(130, tall + 24)];
  const step = (width - 120) / Math.max(1, layers.length - 1);
  const places = new Map();
  columns.forEach((column, place) => column.forEach((node, row) => {
    places.set(node.id, [layers.length === 1 ? width / 2 : 60 + step * place, 12 + (height - 34) * (row + 0.5) / column.length]);
  }));
  const heaviest = Math.max(...picture.edges.map((edge) => edge.weight || 0), 1e-12);
  const edges = picture.edges.map((edge) => {
    const [[x1, y1], [x2, y2]] = [places.get(edge.source), places.get(edge.target)];
    const bend = x1 === x2 ? 46 : (x2 - x1) / 2;
    const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x1 === x2 ? x2 + bend : x2 - bend} ${y2} ${x2} ${y2}`;
    return svg("path", { d, class: "edge", "stroke-width": (0.8 + 4 * (edge.weight || 0) / heaviest).toFixed(2) },
      svg("title", {}, `${edge.source} → ${edge.target}${edge.label ? `: ${edge.label}` : ""}`));
  });
  const nodes = picture.nodes.map((node) => {
    const [x, y] = places.get(node.id);
    const who = node.candidate === null ? null : chosenBy.get(String(node.candidate));
    const isBest = node.candidate !== null && best.has(String(node.candidate));
    const said = [node.label, ...(node.value !== null && node.candidate !== null ? [`${unit}: ${figure(node.value, 6)}`] : []),
      ...node.notes.map(([name, value]) => `${name}: ${value}`), ...(isBest ? ["the best decision"] : []),
      ...(who ? [`chosen by ${[...who.keys()].join(", ")}`] : [])].join("\n");
    const r = radius(node);
    const face = node.shape === "box" ? svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10, rx: 2, class: "face" })
      : svg("circle", { cx: x, cy: y, r, class: "face" });
    return svg("g", { class: ["node", node.focus ? "focus" : "", isBest ? "best" : ""].join(" ") }, svg("title", {}, said), face,
      who ? svg("circle", { cx: x, cy: y, r: r + 3.5, class: "ring" }) : null,
      text(x, y + Math.max(r, 5) + 13, shortened(node.label, 18), { class: "label", "text-anchor": "middle" }));
  });
  const left = picture.left_out ? ` ${counted(picture.left_out, "node")} of less weight left out.` : "";
  return el("figure", { class: "picture" }, el("figcaption", {}, el("h4", {}, picture.title), el("p", { class: "muted" }, picture.caption, left)),
    el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": picture.title },
      svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": picture.title }, edges, nodes)),
    el("ul", { class: "legend" }, el("li", {}, el("span", { class: "key best" }), "best"), el("li", {}, el("span", { class: "key chosen" }), "chosen by a decider")));
}

// The best and the chosen candidates, and a strip of all.
function outcomes(truth, question, chosenBy) {
  const rows = truth.outcomes.length ? truth.outcomes : knownOutcomes(question);
  if (!rows.length) return null;
  const all = truth.values.length ? truth.values : rows.map((row) => row.value);
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
      strip(ground, line(x(base === null ? least : base), x(row.value), "stem"), svg("circle", { cx: at(x(row.value)), cy: 10, r: 5.5, class: "face" })),
      number(figure(row.value, 6)), el("td", {}, who.join(", ")));
  });
  const better = question.goal ? ` ${question.goal === "maximise" ? "More" : "Less"} is better.` : "";
  const nothing = base === null ? "" : ` The dashed line is deciding nothing (${figure(base, 5)}).`;
  const shown = table(["#Rank", "Candidate", axis([]), `#${capital(question.unit)}`, "Chosen by"], [strips, ...list], { class: "figures" });
  shown.classList.add("bounded");
  return el("figure", { class: "picture" }, el("figcaption", {}, el("h4", {}, capital(question.unit)),
    el("p", { class: "muted" }, `What a candidate leads to.${better}${nothing}`)), shown);
}

// What the results know, where the questions cannot be read.
function knownOutcomes(question) {
  const found = new Map();
  for (const one of question.ties) {
    if (question.best_value !== null) found.set(String(one), { candidate: one, value: question.best_value, rank: 1 });
  }
  for (const { choice, value, rank } of question.decisions) {
    if (choice !== null && value !== null && rank !== null) found.set(String(choice), { candidate: choice, value, rank });
  }
  return [...found.values()].sort((a, b) => a.rank - b.rank);
}
