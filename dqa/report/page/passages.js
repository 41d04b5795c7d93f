// Draws the passages of a decision. SQL and Cypher are coloured by a list of keywords, without a parser.
const KEYWORDS = new Set(`select from where group by having order limit offset union all distinct as on
  join left right inner outer full cross natural using with recursive case when then else end and or not
  in is null like between exists asc desc over partition values cast interval fetch first
  match optional unwind call return skip starts ends contains yield true false`.split(/\s+/));
const TOKEN = /(--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|`[^`]*`)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)/g;

function highlighted(statement) {
  const code = el("code", {});
  let end = 0;
  for (const found of statement.matchAll(TOKEN)) {
    const [all, comment, quoted, digits, word] = found;
    const kind = comment ? "comment" : quoted ? "string" : digits ? "number"
      : KEYWORDS.has(word.toLowerCase()) ? "keyword" : null;
    if (!kind) continue;
    code.append(statement.slice(end, found.index), el("span", { class: `t-${kind}` }, all));
    end = found.index + all.length;
  }
  code.append(statement.slice(end));
  return el("pre", { class: "statement", tabindex: "0" }, code);
}

function cell(value) {
  if (value === null || value === undefined) return el("td", { class: "null" }, "NULL");
  if (typeof value === "number") return number(String(value));
  return el("td", {}, el("bdi", {}, typeof value === "object" ? JSON.stringify(value) : String(value)));
}

function resultTable(columns, rows) {
  const titles = columns.map((name) => el("th", { scope: "col" }, el("bdi", {}, String(name))));
  const shown = table(titles, rows.map((row) => el("tr", {}, row.map(cell))), { class: "rows" });
  shown.classList.add("bounded");
  return shown;
}

function words(one) {
  if (!one.text) return null;
  return el(one.kind === "crash" || one.kind === "other" ? "pre" : "p", { class: "words", dir: "auto" }, one.text);
}

function passage(one) {
  const title = `${one.step ? `${one.step}. ` : ""}${capital(one.title || "")}`;
  const body = [
    one.statement ? highlighted(one.statement) : null,
    one.translated ? [el("p", { class: "muted" }, "statement that ran:"), highlighted(one.translated)] : null,
    one.status ? el("p", { class: one.tone === "bad" ? "problem" : "muted small" }, one.status) : null,
    one.items ? el("ol", { class: "plan" }, one.items.filter(([change]) => change !== "gone")
      .map(([change, step]) => el("li", { class: change }, el("bdi", {}, step)))) : null,
    one.columns ? resultTable(one.columns, one.rows || []) : words(one),
    (one.notes || []).map((note) => el("p", { class: "muted small" }, note)),
  ];
  const classes = `passage of-${one.kind} ${one.tone || ""}`;
  if (one.kind === "prompt") return el("details", { class: classes }, el("summary", {}, one.title), body);
  return el("div", { class: classes }, el("h5", {}, title), body);
}

function passages(list) {
  return list.map(passage);
}
