// The columns -> a table with pages, sorting, search, a filter by role, and a CSV file.

const PAGE_SIZE = 50;
const OTHER = "Parent / redundant with";
const ALL = "All";
const SELECTED = "Selected";

function makeTable(openNode) {
  const columns = facts.columns;
  const collator = new Intl.Collator("en", { numeric: true });
  const byText = (text) => (a, b) => collator.compare(text(a), text(b));
  const byNumber = (values) => (a, b) => (values[a] ?? -Infinity) - (values[b] ?? -Infinity);
  const numbers = (values) => (
    { compare: byNumber(values), cell: (column) => figure(values[column]), kind: "number" });
  const roleOrder = facts.roles.map((role) => Object.keys(facts.role_counts).indexOf(role));
  const otherName = (column) => (columns.other[column] < 0 ? "" : columns.name[columns.other[column]]);
  const reasonOf = (column) => (nodeOfColumn.has(column) ? "" : facts.reasons[columns.reason[column]]);

  const fields = [
    { title: "Name", compare: byText((column) => columns.name[column]), cell: nameCell },
    { title: "Role", compare: (a, b) => roleOrder[columns.role[a]] - roleOrder[columns.role[b]], cell: roleCell },
    { title: "Relevance (nats)", down: true, compare: byNumber(columns.relevance), cell: relevanceCell, kind: "number",
      meaning: `Mutual information with the ${facts.noun}.` },
    { title: "Levels", down: true, ...numbers(columns.n_levels) },
    ...(columns.frequency ? [{ title: "Frequency", down: true, ...numbers(columns.frequency), cell: frequencyCell }] : []),
    ...(columns.q_value
      ? [{ title: "FDR (q-value)", ...numbers(columns.q_value), cell: fdrCell, meaning: FDR_MEANING }] : []),
    { title: OTHER, compare: byText(otherName), cell: otherCell, kind: "text" },
    { title: "Reason", compare: byText(reasonOf), cell: reasonOf, kind: "text" },
  ];
  const sorting = { field: fields[2], down: true };
  let chosen = ALL;
  let query = "";
  let page = 0;
  let lowered = null;
  let order = [];
  let opened = -1;
  const largest = columns.relevance.reduce((most, value) => Math.max(most, value ?? 0), 1e-12);

  const label = ({ title }) => (title.startsWith("FDR") ? title : title[0].toLowerCase() + title.slice(1));

  /** A title whose unit, in brackets, is not broken over two lines. */
  const heading = ({ title }) =>
    title.split(/(?=\()/).map((part) => (part[0] === "(" ? element("span", { class: "unbroken" }, part) : part));

  function fdrCell(column) {
    const value = columns.q_value[column];
    if (value === null) return "";
    return element("span", { title: `p-value ${figure(columns.p_value[column])}` }, fdr(value));
  }

  function otherCell(column) {
    const name = otherName(column);
    return name && element("span", { title: name }, shortened(name, 44));
  }

  function frequencyCell(column) {
    return `${Math.round(100 * columns.frequency[column])}%`;
  }

  function nameCell(column) {
    const node = nodeOfColumn.get(column);
    const listener = { click: () => (node === undefined ? explain(column) : openNode(node)) };
    const attributes = { type: "button", class: "link", "data-column": column, ...listener };
    const button = element("button", attributes, columns.name[column]);
    if (node === undefined) button.setAttribute("aria-expanded", String(column === opened));
    else button.title = "Show in the tree";
    return button;
  }

  function roleCell(column) {
    return element("span", { class: `role ${toneOf(column)}` }, swatch(), roleOf(column));
  }

  function relevanceCell(column) {
    const share = (columns.relevance[column] ?? 0) / largest;
    return element("span", { class: "measure" }, shareBar(share), figure(columns.relevance[column]));
  }

  function explain(column) {
    opened = opened === column ? -1 : column;
    showPage();
    byId("rows").querySelector(`[data-column="${column}"]`).focus();
  }

  function detailRow(column) {
    const other = nodeOfColumn.get(columns.other[column]);
    const show = { type: "button", class: "link", click: () => openNode(other) };
    const text = `Show “${shortened(otherName(column), 40)}” in the tree`;
    const more = other === undefined ? [] : [" ", element("button", show, text)];
    return element("tr", { class: "detail", role: "row" },
      element("td", { colspan: fields.length, role: "cell" }, ...unbroken(explanation(column)), ...more));
  }

  function filter() {
    if (query && !lowered) lowered = columns.name.map((name) => name.toLowerCase());
    const role = facts.roles.indexOf(chosen); // -1: all, or all that are selected
    order = [];
    for (let column = 0; column < facts.n_columns; column += 1) {
      if (chosen === SELECTED ? !nodeOfColumn.has(column) : role >= 0 && columns.role[column] !== role) continue;
      if (query && !lowered[column].includes(query)) continue;
      order.push(column);
    }
    const sign = sorting.down ? -1 : 1;
    order.sort((a, b) => sign * sorting.field.compare(a, b) || a - b);
    page = 0;
    opened = -1;
    const direction = `sorted by ${label(sorting.field)}, ${sorting.down ? "descending" : "ascending"}`;
    byId("found").textContent = order.length === 0
      ? "No matching columns."
      : `${whole(order.length)} of ${plural(facts.n_columns, "column")}, ${direction}`;
    showPage();
  }

  function showPage() {
    const last = Math.max(0, Math.ceil(order.length / PAGE_SIZE) - 1);
    page = Math.min(Math.max(page, 0), last);
    const rows = order.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).flatMap((column) => {
      const kept = nodeOfColumn.has(column);
      const cells = fields.map((field) => {
        const content = field.cell(column);
        const name = field.title === OTHER ? (kept ? "parent" : "redundant with") : label(field);
        const kind = `${field.kind || ""}${content ? "" : " empty"}`;
        return element("td", { role: "cell", class: kind, "data-label": name }, content || "–");
      });
      const row = element("tr", { role: "row", class: kept ? "kept" : null }, ...cells);
      return column === opened ? [row, detailRow(column)] : [row];
    });
    byId("rows").replaceChildren(...rows);
    byId("page").textContent = `Page ${whole(page + 1)} of ${whole(last + 1)}`;
    byId("previous").disabled = page === 0;
    byId("next").disabled = page === last;
  }

  function sortBy(field) {
    sorting.down = sorting.field === field ? !sorting.down : Boolean(field.down);
    sorting.field = field;
    showSorting();
    filter();
  }

  function showSorting() {
    [...byId("head").children].forEach((head, index) => {
      const own = fields[index] === sorting.field;
      head.setAttribute("aria-sort", own ? (sorting.down ? "descending" : "ascending") : "none");
    });
  }

  function turn(step) {
    page += step;
    opened = -1;
    showPage();
    byId("columns").scrollIntoView({ block: "start" });
  }

  function choose(name) {
    chosen = name;
    for (const chip of byId("roles").children) chip.setAttribute("aria-pressed", String(chip.dataset.role === name));
    filter();
  }

  byId("head").append(...fields.map((field) => element("th", { role: "columnheader", scope: "col", class: field.kind },
    element("button", { type: "button", title: field.meaning, click: () => sortBy(field) }, ...heading(field)))));
  const several = Object.keys(facts.role_counts).length > 1;
  const choices = [[ALL, facts.n_columns], ...(several ? [[SELECTED, facts.n_selected]] : []),
    ...Object.entries(facts.role_counts).filter(([name]) => name !== SELECTED.toLowerCase())];
  byId("roles").append(...choices.filter(([, count]) => count > 0).map(([name, count]) => element("button", {
    type: "button",
    "aria-pressed": name === chosen,
    "data-role": name,
    title: facts.role_words[name]?.meaning || null,
    click: () => choose(name),
  }, `${name} `, element("span", { class: "count" }, whole(count)))));
  byId("fdr-meaning").textContent = columns.q_value ? FDR_MEANING : "";
  let waiting = 0;
  byId("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      query = event.target.value.trim().toLowerCase();
      filter();
    }, 120);
  });
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("download").addEventListener("click", downloadColumns);
  showSorting();
  filter();

  /** Show the selected columns only, and scroll to them. */
  return () => {
    choose(SELECTED);
    byId("columns").scrollIntoView({ block: "start" });
    byId("columns").focus({ preventScroll: true });
  };
}
