// Filters and sorts the table of labels.
drawPage(async () => {
  const table = document.getElementById("labels");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.getElementById("filter");
  const collator = new Intl.Collator("en", { numeric: true });
  function filter() {
    const { scenario, verdict, text, shown } = form.elements;
    const words = text.value.toLowerCase();
    for (const row of rows) {
      row.hidden = (scenario.value && row.cells[0].textContent !== scenario.value)
        || (verdict.value && row.cells[3].dataset.verdict !== verdict.value)
        || !row.textContent.toLowerCase().includes(words);
    }
    shown.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} labels`;
  }
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => (down ? -1 : 1)
        * collator.compare(a.cells[column].textContent, b.cells[column].textContent));
      body.append(...rows);
    });
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
});
