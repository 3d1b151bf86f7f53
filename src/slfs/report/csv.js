// The facts of all columns -> a CSV file.

/** A cell; text that a spreadsheet would take for a formula gets a ' in front of it. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function columnsAsCsv() {
  const { columns } = facts;
  const nameAt = (index) => (index < 0 ? null : columns.name[index]);
  const isKept = (column) => nodeOfColumn.has(column);
  const field = (name) => (columns[name] ? { [name]: (column) => columns[name][column] } : {});
  const fields = {
    ...field("name"),
    selected: (column) => (isKept(column) ? 1 : 0),
    role: roleOf,
    reason: (column) => facts.reasons[columns.reason[column]],
    ...field("relevance"),
    ...field("relevance_share"),
    ...field("n_levels"),
    ...field("frequency"),
    ...field("p_value"),
    ...field("q_value"),
    parent: (column) => (isKept(column) ? nameAt(columns.other[column]) : null),
    redundant_with: (column) => (isKept(column) ? null : nameAt(columns.other[column])),
    explanation,
  };
  const lines = [Object.keys(fields).join(",")];
  for (let column = 0; column < facts.n_columns; column += 1) {
    lines.push(Object.values(fields).map((value) => csvCell(value(column))).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

function downloadColumns() {
  const file = new Blob(["\ufeff", columnsAsCsv()], { type: "text/csv" }); // the mark tells Excel that it is UTF-8
  const link = element("a", { href: URL.createObjectURL(file), download: `${facts.data || "columns"}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
