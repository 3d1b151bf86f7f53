// Pairs of columns that interact: the share of a class at each combination of their levels.

const GRID = { label: 120, cell: 92, row: 34, head: 24 };
const MOST_PAIRS = 12;
const MOST_PAIR_CLASSES = 4;

function showPairs(openNode) {
  if (facts.pairs.length === 0) {
    byId("pairs").remove();
    document.querySelector('nav a[href="#pairs"]').remove();
    return;
  }
  byId("pairs-note").textContent =
    "Each cell is a combination of levels, with the share of a class among its samples. Two columns without " +
    "interaction shift this share in all rows and columns alike. Shown are pairs that are edges of the tree, at most " +
    `${MOST_PAIRS} pairs and the ${MOST_PAIR_CLASSES} classes with the largest interaction; pairs_ of the selector has all pairs.`;
  byId("pairs-body").append(...facts.pairs.slice(0, MOST_PAIRS).map((pair) => pairCard(pair, openNode)));
}

/** The names of both columns, what they tell together, and a heat map per class (one for two classes). */
function pairCard(pair, openNode) {
  const link = (id) => element("button", { type: "button", class: "link", click: () => openNode(id) },
    shortened(facts.nodes[id].name, 40));
  const classes = pair.classes.slice(0, pair.classes.length === 2 ? 1 : MOST_PAIR_CLASSES);
  return element("div", { class: "card" },
    element("h3", {}, link(pair.first), " × ", link(pair.second)),
    element("p", { class: "note" },
      `Together ${figure(pair.joint_information)} nats of information about the ${facts.noun}, ${figure(pair.synergy)} ` +
      `more than both on their own. FDR ${fdr(pair.q_value)}.`),
    ...classes.map((index) => pairMap(pair, index)));
}

/** One row per level of the first column, one cell per level of the second, darker for a larger share of a class. */
function pairMap(pair, index) {
  const { label, cell, row, head } = GRID;
  const first = facts.nodes[pair.first], second = facts.nodes[pair.second];
  const text = `Share of ${facts.classes[index]} by ${first.name} (rows) and ${second.name} (columns)`;
  const chart = drawn("svg", { class: "chart blue", role: "img", "aria-label": `${text}: ${spokenPair(pair, index)}` });
  second.levels.forEach((level, column) => chart.append(
    drawn("text", { x: label + (column + 0.5) * cell, y: 16, "text-anchor": "middle", class: "chart-label" },
      drawn("title", {}, level), shortened(level, 14))));
  pair.counts.forEach((cells, level) => {
    const y = head + level * row;
    chart.append(drawn("text", { x: label - 8, y: y + row / 2 + 4, "text-anchor": "end", class: "chart-label" },
      drawn("title", {}, first.levels[level]), shortened(first.levels[level], 18)));
    cells.forEach((counts, column) => {
      const size = sum(counts);
      const share = size ? counts[index] / size : 0;
      const x = label + column * cell;
      const box = { x: x + 0.5, y: y + 0.5, width: cell - 1, height: row - 1, rx: 2 };
      const ground = share > 0.75 ? " full" : share > 0.55 ? " half" : "";
      chart.append(
        drawn("rect", { ...box, class: "track" }),
        drawn("rect", { ...box, class: "bar", "fill-opacity": share.toFixed(3) },
          drawn("title", {}, `${first.levels[level]}, ${second.levels[column]}: ${whole(counts[index])} of ${whole(size)}`)),
        drawn("text", { x: x + cell / 2, y: y + row / 2 + 4, "text-anchor": "middle", class: `chart-cell${ground}` },
          size ? `${Math.round(100 * share)}% of ${whole(size)}` : "–"));
    });
  });
  chart.setAttribute("viewBox", `0 0 ${label + second.levels.length * cell} ${head + 4 + pair.counts.length * row}`);
  return element("div", {}, element("p", { class: "note" }, `${text}:`), chart);
}

function spokenPair(pair, index) {
  const first = facts.nodes[pair.first], second = facts.nodes[pair.second];
  return pair.counts.flatMap((cells, level) => cells.map((counts, column) =>
    `${first.levels[level]}, ${second.levels[column]}: ${counts[index]} of ${sum(counts)}`)).join("; ");
}
