// SQL and Cypher, coloured by their words alone: nothing of a statement is changed.
const KEYWORDS = new Set(`select from where group by having order limit offset union all distinct as on
  join left right inner outer full cross natural using with recursive case when then else end and or not
  in is null like ilike between exists asc desc over partition rows range values cast interval fetch first
  match optional unwind call return skip starts ends contains yield merge create set delete detach remove
  true false xor any none single`.split(/\s+/));
const TOKEN = /(--[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|`[^`]*`)|(\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(:[A-Z]\w*)|([A-Za-z_]\w*)(?=(\s*\()?)/g;

function highlighted(statement) {
  const code = el("code", {});
  let end = 0;
  for (const found of statement.matchAll(TOKEN)) {
    const [all, comment, quoted, number, label, word, bracket] = found;
    const kind = comment ? "comment" : quoted ? "string" : number ? "number" : label ? "label"
      : KEYWORDS.has(word.toLowerCase()) ? "keyword" : bracket ? "function" : null;
    if (!kind) continue;
    code.append(statement.slice(end, found.index), el("span", { class: `t-${kind}` }, all));
    end = found.index + all.length;
  }
  code.append(statement.slice(end));
  return el("pre", { class: "statement", tabindex: "0" }, code);
}
