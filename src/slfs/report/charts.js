// Class distributions, numbers at each level and accuracies -> charts. Every bar is labelled with its name and value.

const HEAT = { width: 350, row: 20, head: 22 };
const MOST_GROUPED_CLASSES = 6;
const MOST_LEVELS = 12;

/** Horizontal bars in groups: [{title, note, bars: [{label, share, value}]}]. */
function barChart(groups, tone, description) {
  return element("div", { class: `bars ${tone}`, role: "img", "aria-label": description },
    ...groups.map(({ title, note, bars }) => element("div", { class: "bar-group" },
      ...(title ? [element("p", { class: "bar-title" }, element("strong", {}, title), element("span", {}, note))] : []),
      ...bars.map(({ label, share, value }) => element("div", { class: "bar-row" },
        element("span", { class: "bar-label", title: label }, label),
        shareBar(share),
        element("span", { class: "bar-value" }, value))))));
}

/** The distribution of each class over the levels of a feature. */
function distribution(node) {
  const shown = mostFrequent(node.levels.map((name, level) => {
    const counts = node.counts[level];
    return { name, counts, size: sum(counts) };
  }));
  const tone = toneOf(node.column);
  const description = `Distribution of each class over the levels of ${node.name}; the counts follow as a table.`;
  if (facts.classes.length > MOST_GROUPED_CLASSES) return heatMap(shown, tone, description);
  return barChart(
    shown.map((level) => ({
      title: level.name,
      note: plural(level.size, "sample"),
      bars: facts.classes.map((name, index) => {
        const share = level.counts[index] / facts.class_counts[index];
        return { label: name, share, value: `${percent(share)} · ${whole(level.counts[index])}` };
      }),
    })),
    tone,
    description,
  );
}

/** A continuous target at each level of a feature: the median as a dot, and the quartiles as a line. */
function targetByLevel(node) {
  const levels = node.levels
    .map((name, level) => ({ name, size: sum(node.counts[level]), ...node.target[level] }))
    .filter((level) => level.median !== null);
  const begin = Math.min(...levels.map((level) => level.lower));
  const end = Math.max(...levels.map((level) => level.upper));
  const at = (value) => `${2 + (end > begin ? (96 * (value - begin)) / (end - begin) : 48)}%`;
  const text = (value) => String(Number(value.toPrecision(4)));
  const spoken = levels.map(({ name, median, lower, upper }) => `${name}: ${text(median)} (${text(lower)} to ${text(upper)})`);
  const tone = toneOf(node.column) === "grey" ? "grey" : "blue";
  return element("div", { class: "bars levels", role: "img", "aria-label": `Median (quartiles) of ${facts.class_name}. ${spoken.join("; ")}.` },
    ...levels.map((level) => element("div", { class: "bar-group" },
      element("p", { class: "bar-title" }, element("strong", {}, level.name), element("span", {}, plural(level.size, "sample"))),
      element("div", { class: "bar-row wide" },
        drawn("svg", { class: `dots ${tone}`, "aria-hidden": "true" },
          drawn("line", { x1: 0, x2: "100%", y1: 14, y2: 14, class: "axis" }),
          drawn("line", { x1: at(level.lower), x2: at(level.upper), y1: 14, y2: 14, class: "whisker" }),
          drawn("circle", { cx: at(level.median), cy: 14, r: 6, class: "dot" })),
        element("span", { class: "bar-value" }, text(level.median))))),
    element("p", { class: "note small" }, "Dot: median; line: from the lower to the upper quartile."));
}

/** If there are too many levels for a chart, keep the most frequent ones and merge the others. */
function mostFrequent(levels) {
  if (levels.length <= MOST_LEVELS) return levels;
  const least = levels.map((level) => level.size).sort((a, b) => b - a)[MOST_LEVELS - 2];
  const kept = levels.filter((level) => level.size >= least).slice(0, MOST_LEVELS - 1);
  const rest = levels.filter((level) => !kept.includes(level));
  const counts = facts.classes.map((_, index) => sum(rest.map((level) => level.counts[index])));
  return [...kept, { name: `${rest.length} other levels`, counts, size: sum(counts) }];
}

/** A chart for many classes: one row per class, one cell per level, darker for a larger share of the class. */
function heatMap(levels, tone, description) {
  const { width, row, head } = HEAT;
  const label = 10 + Math.min(92, Math.max(...facts.classes.map((name) => measure(shortened(name, 15)))));
  const cell = (width - label) / levels.length;
  const chart = drawn("svg", { class: `chart ${tone}`, role: "img", "aria-label": description });
  levels.forEach((level, column) => {
    const x = label + (column + 0.5) * cell;
    chart.append(drawn("text", { x, y: 14, "text-anchor": "middle", class: "chart-title" },
      drawn("title", {}, level.name), String(column + 1)));
  });
  facts.classes.forEach((name, index) => {
    const y = head + index * row;
    chart.append(drawn("text", { x: label - 8, y: y + row / 2 + 4, "text-anchor": "end", class: "chart-label" },
      drawn("title", {}, name), shortened(name, 15)));
    levels.forEach((level, column) => {
      const share = level.counts[index] / facts.class_counts[index];
      const x = label + column * cell;
      const box = { x: x + 0.5, y: y + 0.5, width: cell - 1, height: row - 1, rx: 2 };
      const ground = share > 0.75 ? " full" : share > 0.55 ? " half" : "";
      chart.append(
        drawn("rect", { ...box, class: "track" }),
        drawn("rect", { ...box, class: "bar", "fill-opacity": share.toFixed(3) },
          drawn("title", {}, `${name}, ${level.name}: ${percent(share)} (${whole(level.counts[index])})`)),
        drawn("text", { x: x + cell / 2, y: y + row / 2 + 4, "text-anchor": "middle", class: `chart-cell${ground}` },
          share >= 0.005 ? String(Math.round(100 * share)) : ""));
    });
  });
  chart.setAttribute("viewBox", `0 0 ${width} ${head + 4 + facts.classes.length * row}`);
  const key = element("ol", { class: "key" }, ...levels.map((level) => element("li", {}, level.name)));
  return element("div", {},
    element("p", { class: "note" }, "Percentage of the samples of each class (row) at each level (column):"),
    element("div", { class: "tall", tabindex: 0, role: "region", "aria-label": "Heat map" }, chart), key);
}

/** The number of samples in each class; tiles instead of bars if there are many classes. */
function classSizes() {
  const largest = Math.max(...facts.class_counts);
  const total = facts.class_counts.reduce((sum, count) => sum + count, 0);
  const bars = facts.class_counts.map((count, index) => ({
    label: facts.classes[index],
    share: count / largest,
    value: `${percent(count / total)} · ${whole(count)}`,
  }));
  const spoken = `Samples of each class: ${bars.map((bar) => `${bar.label} ${bar.value}`).join("; ")}.`;
  if (bars.length <= MOST_LEVELS) return barChart([{ bars }], "neutral", spoken);
  const tiles = bars.map(({ label, share, value }, index) => element("span", { class: "tile", title: `${label}: ${value}` },
    element("strong", {}, shortened(label, 20)), shareBar(share), element("span", {}, whole(facts.class_counts[index]))));
  return element("div", { class: "tiles neutral tall", tabindex: 0, role: "img", "aria-label": spoken }, ...tiles);
}

/** One row per classifier: its name, its mean accuracy with one standard deviation as a dot and a line, the value. */
function accuracyRows(accuracy) {
  const measured = accuracy.models.filter((model) => model.mean !== null);
  const lowest = Math.min(accuracy.majority, ...measured.map((model) => model.mean - model.std));
  const begin = Math.max(0, Math.floor(lowest * 10 - 0.2) / 10);
  const at = (share) => `${(100 * (Math.min(share, 1) - begin)) / (1 - begin)}%`;
  const rows = accuracy.models.map((model) => {
    if (model.mean === null) {
      return element("div", { class: "score" }, element("div", {}, element("strong", {}, model.name)),
        element("p", { class: "note" }, model.reason));
    }
    const whisker = { x1: at(model.mean - model.std), x2: at(model.mean + model.std) };
    const used = sum(model.n_features) / model.n_features.length;
    const tone = model.name.includes("all") ? "grey" : "blue";
    const track = drawn("svg", { class: `dots ${tone}`, "aria-hidden": "true" },
      drawn("line", { x1: 0, x2: "100%", y1: 14, y2: 14, class: "axis" }),
      drawn("line", { x1: at(accuracy.majority), x2: at(accuracy.majority), y1: 4, y2: 24, class: "base" }),
      drawn("line", { ...whisker, y1: 14, y2: 14, class: "whisker" }),
      drawn("circle", { cx: at(model.mean), cy: 14, r: 6, class: "dot" }));
    return element("div", { class: "score" },
      element("div", {}, element("strong", {}, model.name),
        element("span", { class: "note" }, `${Number(used.toFixed(1))} column${used === 1 ? "" : "s"} · balanced ${percent(model.balanced_accuracy)}`)),
      track,
      element("div", { class: "amount" },
        element("strong", {}, percent(model.mean)), ` ± ${(100 * model.std).toFixed(1)}`));
  });
  const scale = element("div", { class: "score scale", "aria-hidden": "true" }, element("span"),
    element("div", {}, element("span", {}, `${Math.round(100 * begin)}%`), element("span", {}, "100%")),
    element("span"));
  return [...rows, scale];
}
