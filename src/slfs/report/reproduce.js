// Command, code, parameters, versions and data -> the section that says how to repeat the selection.

function inPython(value) {
  const constants = new Map([[null, "None"], [true, "True"], [false, "False"]]);
  return constants.get(value) ?? (typeof value === "string" ? value : JSON.stringify(value));
}

function showReproduction() {
  const list = (title, entries) => {
    const pairs = Object.entries(entries).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, inPython(value)),
    ]);
    return element("div", {}, element("h3", {}, title), element("dl", { class: "facts" }, ...pairs));
  };
  const parts = [list(`Parameters of ${facts.method}`, facts.parameters), list("Versions", facts.versions)];
  const source = {
    ...(facts.data ? { table: facts.data } : {}),
    size: `${facts.size}, ${plural(facts.n_columns, "column")}`,
    [isNumber ? "target" : "class"]: facts.class_name,
    ...(facts.seconds === null ? {} : { "time to select": `${Number(facts.seconds.toPrecision(2))} s` }),
    "report written": facts.created,
    ...(facts.fingerprint ? { fingerprint: facts.fingerprint } : {}),
  };
  parts.push(list("Data", source));
  const block = (title, text) => element("div", { class: "code" }, element("h3", {}, title),
    element("pre", { tabindex: 0, "aria-label": title }, element("code", {}, text)));
  byId("reproduce-body").append(
    ...(facts.command ? [block("Command", facts.command)] : []), block("In Python", facts.code), ...parts);
}
