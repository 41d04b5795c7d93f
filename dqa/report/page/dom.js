// Elements are created by the DOM and never parsed, so that texts of models and databases cannot contain markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
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

function number(...children) {
  return el("td", { class: "number" }, ...children);
}

// A table that scrolls if it is wider than the page. A title that starts with "#" is the title of a
// column of numbers.
function table(titles, rows, attributes) {
  const heads = titles.map((title) => title instanceof Node ? title
    : el("th", { scope: "col", class: title.startsWith("#") ? "number" : null }, title.replace(/^#/, "")));
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", attributes, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}

// Reads a compressed block of JSON in the page.
async function unpack(id) {
  const block = document.getElementById(id);
  if (!block) throw new Error(`The file is incomplete: its block '${id}' is missing. Write the page again.`);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot read the page, because it does not support DecompressionStream. "
      + "Open the page in Chrome or Edge 80, Firefox 113, Safari 16.4, or a later version.");
  }
  const packed = Uint8Array.from(atob(block.textContent.trim()), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
