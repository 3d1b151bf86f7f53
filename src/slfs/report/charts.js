// Class distributions and accuracies -> charts. Every bar is labelled with its name and value.

const CHART = { width: 350, value: 94, bar: 11, line: 20, heading: 26 };
const MOST_GROUPED_CLASSES = 6;
const MOST_LEVELS = 12;

/** Width of the column of class names. */
const labelWidth = (() => {
  let found = 0;
  return () => (found ||= 10 + Math.min(92, Math.max(...facts.classes.map((name) => measure(shortened(name, 15))))));
})();

/** Horizontal bars in groups: [{title, bars: [{label, share, value}]}]. */
function barChart(groups, tone, description) {
  const { width, value, bar, line, heading } = CHART;
  const label = labelWidth();
  const room = width - label - value;
  const chart = drawn("svg", { class: `chart ${tone}`, role: "img", "aria-label": description });
  let y = 0;
  for (const group of groups) {
    if (group.title) {
      chart.append(drawn("text", { x: 0, y: y + 17, class: "chart-title" }, shortened(group.title, 42)));
      if (group.note) {
        chart.append(drawn("text", { x: width, y: y + 17, class: "chart-note", "text-anchor": "end" }, group.note));
      }
      y += heading;
    }
    for (const { label: name, share, value: text } of group.bars) {
      const middle = y + line / 2;
      const box = { x: label, y: middle - bar / 2, height: bar, rx: 3 };
      chart.append(
        drawn("text", { x: label - 8, y: middle + 4, "text-anchor": "end", class: "chart-label" },
          drawn("title", {}, name), shortened(name, 15)),
        drawn("rect", { ...box, width: room, class: "track" }),
        drawn("rect", { ...box, width: Math.max(share * room, share > 0 ? 1.5 : 0), class: "bar" }),
        drawn("text", { x: width, y: middle + 4, "text-anchor": "end", class: "chart-value" }, text),
      );
      y += line;
    }
    y += 6;
  }
  chart.setAttribute("viewBox", `0 0 ${width} ${y}`);
  return chart;
}

/** The distribution of each class over the levels of a feature. */
function distribution(node) {
  const shown = mostFrequent(node.levels.map((name, level) => {
    const counts = node.counts[level];
    return { name, counts, size: sum(counts) };
  }));
  const tone = node.level === 1 ? "blue" : "orange";
  const description = `Distribution of each class over the levels of ${node.name}; the counts follow as a table.`;
  if (facts.classes.length > MOST_GROUPED_CLASSES) return matrix(shown, tone, description);
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

/** If there are too many levels for a chart, keep the most frequent ones and merge the others. */
function mostFrequent(levels) {
  if (levels.length <= MOST_LEVELS) return levels;
  const least = levels.map((level) => level.size).sort((a, b) => b - a)[MOST_LEVELS - 2];
  const kept = levels.filter((level) => level.size >= least).slice(0, MOST_LEVELS - 1);
  const rest = levels.filter((level) => !kept.includes(level));
  const counts = facts.classes.map((_, index) => sum(rest.map((level) => level.counts[index])));
  return [...kept, { name: `${rest.length} other levels`, counts, size: sum(counts) }];
}

/** A chart for many classes: one row per class, one cell per level, with a bar for the share. */
function matrix(levels, tone, description) {
  const { width, bar, line } = CHART;
  const label = labelWidth();
  const cell = (width - label) / levels.length;
  const chart = drawn("svg", { class: `chart ${tone}`, role: "img", "aria-label": description });
  levels.forEach((_, column) => {
    const x = label + (column + 0.5) * cell;
    chart.append(drawn("text", { x, y: 14, "text-anchor": "middle", class: "chart-title" }, String(column + 1)));
  });
  facts.classes.forEach((name, index) => {
    const y = 22 + index * line;
    chart.append(drawn("text", { x: label - 8, y: y + line / 2 + 4, "text-anchor": "end", class: "chart-label" },
      drawn("title", {}, name), shortened(name, 15)));
    levels.forEach((level, column) => {
      const share = level.counts[index] / facts.class_counts[index];
      const x = label + column * cell;
      chart.append(
        drawn("rect", { x, y: y + (line - bar) / 2, width: cell - 4, height: bar, rx: 2, class: "track" }),
        drawn("rect", { x, y: y + (line - bar) / 2, width: share * (cell - 4), height: bar, rx: 2, class: "bar" },
          drawn("title", {}, `${name}, ${level.name}: ${percent(share)} (${whole(level.counts[index])})`)),
      );
    });
  });
  chart.setAttribute("viewBox", `0 0 ${width} ${26 + facts.classes.length * line}`);
  const key = element("ol", { class: "key" }, ...levels.map((level) => element("li", {}, level.name)));
  return element("div", {}, chart, key);
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
        element("span", { class: "note" }, `${Number(used.toFixed(1))} column${used === 1 ? "" : "s"}`)),
      track,
      element("div", { class: "amount" },
        element("strong", {}, percent(model.mean)), ` ± ${(100 * model.std).toFixed(1)}`));
  });
  const scale = element("div", { class: "score scale", "aria-hidden": "true" }, element("span"),
    element("div", {}, element("span", {}, `${Math.round(100 * begin)}%`), element("span", {}, "100%")),
    element("span"));
  return [...rows, scale];
}
