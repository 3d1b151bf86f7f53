// One node of the tree -> the panel beside it.

function fillPanel(place, open) {
  byId("panel").replaceChildren(...(place === ROOT ? classDetails() : nodeDetails(facts.nodes[place], place, open)));
  byId("shown").textContent = `Details of ${nameOf(place)} are shown.`;
}

function classDetails() {
  const largest = Math.max(...facts.class_counts);
  const bars = facts.class_counts.map((count, index) => ({
    label: facts.classes[index],
    share: count / largest,
    value: `${percent(count / facts.n_samples)} · ${whole(count)}`,
  }));
  const spoken = bars.map((bar) => `${bar.label} ${bar.value}`).join("; ");
  return [
    element("p", { class: "kicker" }, "The class"),
    element("h3", {}, facts.class_name),
    element("p", {}, `${plural(facts.n_samples, "sample")} in ${facts.classes.length} classes.`),
    barChart([{ bars }], "neutral", `Samples of each class: ${spoken}.`),
    element("p", { class: "note" }, "Choose a feature in the tree to see how it spreads over the classes."),
  ];
}

function nodeDetails(node, place, open) {
  const top = node.parent === ROOT;
  const parent = top ? facts.class_name : nameOf(node.parent);
  return [
    element("p", { class: `kicker ${top ? "blue" : "orange"}` },
      element("span", { class: "swatch", "aria-hidden": "true" }),
      top ? "Directly below the class" : `Level ${node.level} of the tree`),
    element("h3", {}, node.name),
    element("p", { class: "sentence" }, node.sentence),
    element("h4", {}, "Share of each class in its levels"),
    distribution(node),
    countsTable(node),
    element("h4", {}, "Information"),
    element("dl", { class: "facts" },
      ...pair("about the class", node.relevance),
      ...pair("of its own (entropy)", node.entropy),
      ...(top ? [] : pair(`shared with ${shortened(parent, 40)}`, node.mutual_information)),
      ...(top ? [] : pair("about the class, beyond its parent", node.conditional_relevance)),
      ...(node.evidence ? [element("dt", {}, "evidence"), element("dd", {}, node.evidence)] : []),
      ...(node.frequency ? [element("dt", {}, "stability"), element("dd", {}, node.frequency)] : [])),
    ...cutPoints(node),
    element("h4", {}, "In the tree"),
    element("div", { class: "links-to" },
      ...relatives([node.parent], "Above: ", open),
      ...relatives(childrenOf.get(place), "Below: ", open)),
  ];
}

const pair = (words, value) => [element("dt", {}, words), element("dd", {}, `${figure(value)} nats`)];

function cutPoints(node) {
  if (node.kind !== "numbers" || node.cuts.length === 0) return [];
  const words = (cut) => (typeof cut === "number" ? String(Number(cut.toPrecision(9))) : cut);
  const list = node.cuts.map((cut) => element("li", {}, words(cut)));
  const title = node.cuts.length === 1 ? "Cut point" : "Cut points";
  return [element("h4", {}, title), element("ul", { class: "cuts" }, ...list)];
}

function relatives(places, words, open) {
  if (places.length === 0) return [];
  const buttons = places.map((place) =>
    element("button", { type: "button", class: "link", click: () => open(place) }, nameOf(place)));
  return [element("p", {}, words, ...buttons.flatMap((button, index) => (index ? [", ", button] : [button])))];
}

function countsTable(node) {
  const head = element("tr", {}, element("th", { scope: "col" }, "Level"),
    ...facts.classes.map((name) => element("th", { scope: "col" }, name)));
  const rows = node.levels.map((name, level) => element("tr", {}, element("th", { scope: "row" }, name),
    ...node.counts[level].map((count) => element("td", {}, whole(count)))));
  return element("details", {}, element("summary", {}, "Counts as a table"),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Counts" },
      element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...rows))));
}
