// One node of the tree -> the details in the panel next to it.

function fillPanel(id, open) {
  byId("panel").replaceChildren(...(id === ROOT ? classDetails() : nodeDetails(facts.nodes[id], id, open)));
  byId("shown").textContent = `Showing details of ${nameOf(id)}.`;
}

function classDetails() {
  return [
    element("p", { class: "kicker" }, `The ${facts.noun}`),
    element("h3", {}, facts.class_name),
    element("p", {}, `${facts.size} in ${facts.classes.length} ${isNumber ? "bins" : "classes"}.`),
    classSizes(),
    element("p", { class: "note" }, isNumber
      ? "Select a feature in the tree to see the target at each of its levels."
      : "Select a feature in the tree to see its distribution in each class."),
  ];
}

function nodeDetails(node, id, open) {
  const top = node.parent === ROOT;
  const parent = top ? facts.class_name : nameOf(node.parent);
  const qValue = facts.columns.q_value?.[node.column] ?? null;
  return [
    element("p", { class: `kicker ${toneOf(node.column)}` }, swatch(), roleOf(node.column)),
    element("h3", {}, node.name),
    element("p", { class: "sentence" }, ...unbroken(node.sentence)),
    element("h4", {}, isNumber ? `${facts.class_name} at each level` : "Distribution in each class"),
    isNumber ? targetByLevel(node) : distribution(node),
    countsTable(node),
    element("h4", {}, "Mutual information"),
    element("dl", { class: "facts" },
      ...pair(`with the ${facts.noun} (relevance)`, node.relevance),
      ...pair(`relevance / ${ENTROPY}`, ofClassEntropy(node.relevance)),
      ...(top ? [] : pair(`with its parent, ${shortened(parent, 40)}`, node.mutual_information)),
      ...(top ? [] : pair(`with the ${facts.noun}, given its parent`, node.conditional_relevance)),
      ...pair("entropy of the feature", node.entropy)),
    ...(node.evidence || node.frequency ? [element("h4", {}, "Evidence")] : []),
    element("dl", { class: "facts" },
      ...(node.evidence ? pair(`that it depends on the ${facts.noun}`, node.evidence) : []),
      ...(qValue === null ? [] : pair("FDR (q-value)", fdr(qValue))),
      ...(node.pair_evidence ? pair("that it interacts with another selected column", node.pair_evidence) : []),
      ...(node.frequency ? pair("selected in subsamples", node.frequency) : [])),
    ...(qValue === null ? [] : [element("p", { class: "note small" }, FDR_MEANING)]),
    ...cutPoints(node),
    element("h4", {}, "In the tree"),
    element("div", { class: "links-to" },
      ...relatives([node.parent], "Parent:", open),
      ...relatives(childrenOf.get(id), "Children:", open)),
    element("p", { class: "back screen" }, element("a", { href: "#tree" }, "Back to the tree")),
  ];
}

/** A label and its value; numbers are in nats. */
const pair = (label, value) =>
  [element("dt", {}, label), element("dd", {}, typeof value === "number" ? `${value} nats` : figure(value))];

function cutPoints(node) {
  if (node.kind !== "numbers" || node.cuts.length === 0) return [];
  const format = (cut) => (typeof cut === "number" ? String(Number(cut.toPrecision(9))) : cut);
  const list = node.cuts.map((cut) => element("li", {}, format(cut)));
  const title = node.cuts.length === 1 ? "Cut point" : "Cut points";
  return [element("h4", {}, title), element("ul", { class: "cuts" }, ...list)];
}

function relatives(ids, label, open) {
  if (ids.length === 0) return [];
  const link = (id) => element("button", { type: "button", class: "link", click: () => open(id) }, nameOf(id));
  return [element("ul", { class: "relatives" }, element("li", {}, label),
    ...ids.map((id) => element("li", {}, link(id))))];
}

function countsTable(node) {
  const head = element("tr", {}, element("th", { scope: "col" }, "Level"),
    ...facts.classes.map((name) => element("th", { scope: "col" }, name)),
    ...(isNumber ? [element("th", { scope: "col" }, "Mean")] : []));
  const rows = node.levels.map((name, level) => element("tr", {}, element("th", { scope: "row" }, name),
    ...node.counts[level].map((count) => element("td", {}, whole(count))),
    ...(isNumber ? [element("td", {}, figure(node.target[level].mean))] : [])));
  return element("details", {}, element("summary", {}, "Counts as a table"),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Counts" },
      element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...rows))));
}
