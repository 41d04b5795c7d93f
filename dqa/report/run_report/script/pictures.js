// Pictures of what a decision turns on: a graph in layers, and what every candidate leads to.
function choosers(report, question) {
  const found = new Map();
  for (const decision of question.decisions) {
    if (decision.choice === null) continue;
    const key = String(decision.choice);
    if (!found.has(key)) found.set(key, new Map());
    const own = found.get(key);
    const name = report.contestants[decision.contestant].name;
    own.set(name, (own.get(name) || 0) + 1);
  }
  return found;
}

function graph(picture, unit, best, chosenBy) {
  const layers = [...new Set(picture.nodes.map((node) => node.layer))].sort((a, b) => a - b);
  const columns = layers.map((layer) => picture.nodes.filter((node) => node.layer === layer));
  const values = picture.nodes.map((node) => node.value).filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const tall = Math.max(...columns.map((column) => column.reduce((sum, node) => sum + (node.shape === "dot" ? 26 : 38), 0)));
  const minimised = picture.goal === "minimise";
  const radius = (node) => {
    if (node.shape === "dot") return 3.5;
    if (node.value === null || most === least) return 5;
    const share = (node.value - least) / (most - least);
    return 4 + 8 * Math.sqrt(minimised ? 1 - share : share);
  };
  const draw = fitted((given) => {
    const width = Math.max(given, 124 * layers.length);
    const height = Math.max(130, tall + 24);
    const step = (width - 120) / Math.max(1, layers.length - 1);
    const at = new Map();
    columns.forEach((column, place) => column.forEach((node, row) => {
      const x = layers.length === 1 ? width / 2 : 60 + step * place;
      at.set(node.id, [x, 12 + (height - 34) * (row + 0.5) / column.length]);
    }));
    const heaviest = Math.max(...picture.edges.map((edge) => edge.weight || 0), 1e-12);
    const edges = picture.edges.map((edge) => {
      const [[x1, y1], [x2, y2]] = [at.get(edge.source), at.get(edge.target)];
      const bend = x1 === x2 ? 46 : (x2 - x1) / 2;
      const d = x1 === x2 ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2}`
        : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
      return svg("path", { d, class: "edge", "stroke-width": (0.8 + 4 * (edge.weight || 0) / heaviest).toFixed(2) },
        svg("title", {}, `${edge.source} → ${edge.target}${edge.label ? `: ${edge.label}` : ""}`));
    });
    const nodes = picture.nodes.map((node) => {
      const [x, y] = at.get(node.id);
      const who = node.candidate === null ? null : chosenBy.get(String(node.candidate));
      const isBest = node.candidate !== null && best.has(String(node.candidate));
      const classes = ["node", node.focus ? "focus" : "", isBest ? "best" : "", who ? "chosen" : ""].join(" ");
      const said = [node.label, ...(node.value !== null && node.candidate !== null ? [`${unit}: ${figure(node.value, 6)}`] : []),
        ...node.notes.map(([name, value]) => `${name}: ${value}`), ...(isBest ? ["the best decision"] : []),
        ...(who ? [`chosen by ${[...who.keys()].join(", ")}`] : [])].join("\n");
      const r = radius(node);
      const label = shortened(node.label, 18);
      const face = node.shape === "box"
        ? svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10, rx: 2, class: "face" })
        : svg("circle", { cx: x, cy: y, r, class: "face" });
      return svg("g", { class: classes }, svg("title", {}, said), face,
        who ? svg("circle", { cx: x, cy: y, r: r + 3.5, class: "ring" }) : null,
        text(x, y + Math.max(r, 5) + 13, label, { class: "label", "text-anchor": "middle" }));
    });
    return frame(width, height, picture.title, edges, nodes);
  }, { class: "drawing scrolls", tabindex: "0", role: "group", "aria-label": picture.title });
  // Where it is wider than its place, what the question is about is seen first.
  const focus = picture.nodes.find((node) => node.focus);
  if (focus && focus.layer) requestAnimationFrame(() => requestAnimationFrame(() => { draw.scrollLeft = draw.scrollWidth; }));
  return el("figure", { class: layers.length > 4 ? "picture broad" : "picture" },
    el("figcaption", {}, el("h4", {}, picture.title),
      el("p", { class: "muted" }, picture.caption,
        picture.left_out ? ` ${counted(picture.left_out, "node")} of less weight left out.` : "")),
    draw,
    el("ul", { class: "legend" },
      el("li", {}, el("span", { class: "key best" }), "best"),
      el("li", {}, el("span", { class: "key chosen" }), "chosen by a decider")));
}

// What every candidate leads to: all of them as a strip, the best and the chosen ones by name.
function outcomes(truth, question, chosenBy) {
  const rows = truth.outcomes.length ? truth.outcomes : knownOutcomes(question);
  if (!rows.length) return null;
  const shown = rows.filter((row, place) => place < 6 || chosenBy.has(String(row.candidate)));
  const all = truth.values && truth.values.length ? truth.values : rows.map((row) => row.value);
  const known = [...all, ...(question.baseline === null ? [] : [question.baseline])];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const title = `What candidates lead to: ${question.unit}`;
  const draw = fitted((width) => {
    const narrow = width < 560;
    const left = narrow ? 104 : 190;
    const right = width - (narrow ? 64 : 250);
    const x = (value) => left + (most === least ? 0.5 : (value - least) / (most - least)) * (right - left);
    const strip = all.map((value) => svg("line", { x1: x(value), x2: x(value), y1: 6, y2: 20, class: "dash" }));
    const base = question.baseline === null ? null : [
      svg("line", { x1: x(question.baseline), x2: x(question.baseline), y1: 2, y2: 40 + 24 * shown.length, class: "reference chance" },
        svg("title", {}, `deciding nothing: ${figure(question.baseline, 6)}`))];
    const lines = shown.map((row, place) => {
      const y = 46 + 24 * place;
      const who = chosenBy.get(String(row.candidate));
      const best = row.rank === 1;
      const from = x(question.baseline === null ? least : question.baseline);
      const chosen = who ? [...who].map(([name, times]) => (times > 1 ? `${name} ×${times}` : name)).join(", ") : "";
      return svg("g", { class: `outcome ${best ? "best" : ""} ${who ? "chosen" : ""}` },
        svg("title", {}, `${row.candidate}: ${figure(row.value, 6)}, rank ${row.rank}${chosen ? `; chosen by ${chosen}` : ""}`),
        text(left - 12, y + 4, shortened(row.candidate, narrow ? 12 : 22), { class: "name", "text-anchor": "end" }),
        svg("line", { x1: from, x2: x(row.value), y1: y, y2: y, class: "stem" }),
        svg("circle", { cx: x(row.value), cy: y, r: 5.5, class: "face" }),
        text(right + 12, y + 4, figure(row.value, 5), { class: "value" }),
        chosen && !narrow ? text(right + 82, y + 4, shortened(chosen, 26), { class: "tick" }) : null);
    });
    return frame(width, 44 + 24 * shown.length, title,
      text(left - 12, 17, truth.total ? `all ${truth.total}` : "known", { class: "tick", "text-anchor": "end" }), strip, base, lines);
  });
  const better = question.goal ? ` ${question.goal === "maximise" ? "More" : "Less"} is better.` : "";
  const nothing = question.baseline === null ? "" : ` The dashed line is deciding nothing (${figure(question.baseline, 5)}).`;
  return el("figure", { class: "picture" },
    el("figcaption", {}, el("h4", {}, capital(question.unit)),
      el("p", { class: "muted" }, `What a candidate leads to.${better}${nothing}`)),
    draw,
    el("details", { class: "figures" }, el("summary", {}, "Figures"),
      el("div", { class: "wide" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Rank", "Candidate", capital(question.unit), "Chosen by"].map((name, place) =>
          el("th", { scope: "col", class: place % 2 ? null : "number" }, name)))),
        el("tbody", {}, rows.map((row) => el("tr", { class: row.rank === 1 ? "best" : null },
          el("td", { class: "number" }, row.rank), el("td", {}, el("bdi", {}, row.candidate)),
          el("td", { class: "number" }, figure(row.value, 6)),
          el("td", {}, [...(chosenBy.get(String(row.candidate)) || new Map()).keys()].join(", ")))))))));
}

// What results alone tell, where the questions are not at hand.
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
