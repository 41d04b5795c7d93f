// Elements are made and never parsed: what models and databases said is only ever text.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function text(x, y, words, attributes) {
  return svg("text", { x, y, ...attributes }, words);
}

// How wide words are in a chart's letters, which differ by as much as a reader's systems do.
let pen = null;
function widthOf(words) {
  if (pen === null) {
    pen = document.createElement("canvas").getContext("2d");
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  return pen.measureText(words).width;
}

// A table of a chart's own figures, for whoever does not see the chart.
function figuresTable(titles, rows) {
  return el("details", { class: "figures" },
    el("summary", {}, "Figures"),
    el("div", { class: "wide" }, el("table", {},
      el("thead", {}, el("tr", {}, titles.map((title, place) =>
        el("th", { scope: "col", class: place ? "number" : null }, title)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) =>
        place ? el("td", { class: "number" }, cell) : el("th", { scope: "row" }, cell))))))));
}

// Draws again where the room that a chart has changes.
const drawn = new Map();
const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const one = drawn.get(target);
    if (one && Math.abs(one.width - contentRect.width) > 1) redraw(target, contentRect.width);
  }
});

function redraw(target, width) {
  const one = drawn.get(target);
  one.width = width;
  if (width > 0) target.replaceChildren(one.draw(Math.max(260, width)));
}

function fitted(draw, attributes) {
  const box = el("div", { class: "drawing", ...attributes });
  drawn.set(box, { draw, width: 0 });
  watcher.observe(box);
  return box;
}

function forget(root) {
  for (const box of root.querySelectorAll(".drawing")) {
    watcher.unobserve(box);
    drawn.delete(box);
  }
}
