// Start: fill the sections and connect the tree, the panel and the table.

function showFigures() {
  const figures = [
    ["samples", whole(facts.n_samples)],
    ["columns", whole(facts.n_columns)],
    ["selected", whole(facts.n_selected)],
    ["classes", whole(facts.classes.length)],
    ...(facts.stability ? [["stability (0 to 1)", facts.stability.value?.toFixed(2) ?? "–"]] : []),
    ...(facts.seconds === null ? [] : [["seconds", String(Number(facts.seconds.toPrecision(2)))]]),
  ];
  byId("figures").append(...figures.map(([label, value]) =>
    element("div", {}, element("dt", {}, label), element("dd", {}, value))));
}

function showAccuracy() {
  const accuracy = facts.accuracy;
  const body = byId("accuracy-body");
  if (!accuracy) {
    body.append(element("p", { class: "note" }, "Accuracy was not measured. Pass X and y to write_report to include it."));
  } else if (accuracy.models.length === 0) {
    body.append(element("p", {}, accuracy.reason));
  } else {
    body.append(...accuracyRows(accuracy), element("p", { class: "note" },
      `Mean and standard deviation over ${accuracy.n_splits} folds of cross-validation; columns are selected ` +
      "in each fold from its training samples. The dashed line is the accuracy of always predicting the " +
      `most frequent class: ${percent(accuracy.majority)}.`));
  }
}

function showTree() {
  const note = byId("tree-note");
  if (facts.nodes.length === 0) {
    byId("tree-body").remove();
    const counts = new Map();
    for (const reason of facts.columns.reason) counts.set(reason, (counts.get(reason) || 0) + 1);
    const reasons = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
    note.textContent = "No column was selected, so there is no tree. Reasons:";
    note.after(element("ul", { class: "card plain" }, ...reasons.map(([reason, count]) =>
      element("li", {}, `${plural(count, "column")}: ${facts.reasons[reason]}`))));
    return () => {};
  }
  note.textContent = "Select a node to see its details. Drag to move the tree; zoom with the buttons, or with " +
    "the mouse wheel after a click. Keyboard: arrow keys move, expand and collapse; Enter shows the details.";
  const legend = (tone, text) =>
    element("span", { class: tone }, element("span", { class: "swatch", "aria-hidden": "true" }), text);
  byId("tree-legend").append(legend("blue", "child of the class"),
    ...(facts.depth > 1 ? [legend("orange", "deeper in the tree")] : []),
    element("span", {}, "larger dot: higher relevance"),
    element("span", {}, "thicker line: more information shared with the parent"));
  const openTree = (id) => {
    tree.open(id);
    const narrow = window.innerWidth < 900;
    byId(narrow ? "panel" : "tree").scrollIntoView({ block: "start" });
    byId("panel").focus({ preventScroll: true });
  };
  const tree = makeTree((id) => fillPanel(id, openTree));
  fillPanel(ROOT, openTree);
  return openTree;
}

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
    size: `${plural(facts.n_samples, "sample")}, ${plural(facts.n_columns, "column")}`,
    class: facts.class_name,
    ...(facts.fingerprint ? { fingerprint: facts.fingerprint } : {}),
  };
  parts.push(list("Data", source));
  const code = element("pre", { tabindex: 0, "aria-label": "Python code" }, element("code", {}, facts.code));
  byId("reproduce-body").append(element("div", { class: "code" }, element("h3", {}, "In Python"), code), ...parts);
}

function watchTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    button.setAttribute("aria-pressed", String(dark()));
    button.textContent = "Dark mode";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

watchTheme();
showFigures();
showAccuracy();
showReproduction();
makeTable(showTree());
