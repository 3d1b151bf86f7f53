// Start: fill the sections and connect the tree, the panel and the table.

function showAccuracy() {
  const accuracy = facts.accuracy;
  const body = byId("accuracy-body");
  if (!accuracy) {
    byId("accuracy").remove();
    document.querySelector('nav a[href="#accuracy"]').remove();
  } else if (accuracy.models.length === 0) {
    body.append(element("p", {}, accuracy.reason));
  } else {
    body.append(...accuracyRows(accuracy), element("p", { class: "note" },
      `Mean and standard deviation over ${accuracy.n_splits} folds of cross-validation; columns are selected ` +
      "in each fold from its training samples. The dashed line is the accuracy of always predicting the " +
      `most frequent class: ${percent(accuracy.majority)}. Balanced accuracy is the mean of the accuracies within ` +
      "the classes."));
  }
}

function showTree() {
  if (facts.nodes.length === 0) {
    byId("tree").remove();
    document.querySelector('nav a[href="#tree"]').remove();
    return () => {};
  }
  const legend = (tone, text) =>
    element("span", { class: tone }, swatch(), text);
  const roles = new Set(facts.nodes.map((node) => roleOf(node.column)));
  byId("tree-legend").append(
    ...Object.entries(facts.role_words).filter(([role]) => roles.has(role)).map(([role, { tone }]) => legend(tone, role)),
    element("span", { class: "drawn" }, "larger dot: higher relevance"),
    element("span", { class: "drawn" }, "thicker line: more information shared with the parent"),
    element("span", { class: "listed" }, `bar: relevance as a share of the ${ENTROPY}`));
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
showAccuracy();
showReproduction();
showDuplicates();
const openNode = showTree();
showSize(openNode);
showPairs(openNode);
showAnswer(openNode, makeTable(openNode));
