// Elements are created and never parsed: text of models and databases stays text.
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

// A table that scrolls by itself where it is wider than the page. A title that starts with "#" is
// one of numbers.
function table(titles, rows, attributes) {
  const heads = titles.map((title) => title instanceof Node ? title
    : el("th", { scope: "col", class: title.startsWith("#") ? "number" : null }, title.replace(/^#/, "")));
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
    el("table", attributes, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}

// The data of a page: blocks of JSON, compressed. A long text is stored once: {"$": n} refers to it.
async function unpack(id) {
  const block = document.getElementById(id);
  if (!block) throw new Error(`The page lacks its ${id}: it was cut short. Write it again.`);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot unpack the page (it lacks DecompressionStream): "
      + "open it in Chrome or Edge 80, Firefox 113, Safari 16.4, or a later one.");
  }
  const packed = Uint8Array.from(atob(block.textContent.trim()), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function resolved(value, texts) {
  if (Array.isArray(value)) return value.map((one) => resolved(one, texts));
  if (value && typeof value === "object") {
    if ("$" in value) return texts[value.$];
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, texts)]));
  }
  return value;
}
