// How many columns: the cross-validated log loss by number of columns, and what each column added.

function showSize(openNode) {
  const path = facts.size_path?.n_features.length > 1 ? facts.size_path : null; // otherwise there is no column to try
  const steps = facts.nodes.map((node, id) => ({ node, id })).filter(({ node }) => node.joined !== null)
    .sort((a, b) => a.node.joined - b.node.joined);
  if (!path && steps.length === 0) {
    byId("size").remove();
    document.querySelector('nav a[href="#size"]').remove();
    return;
  }
  if (!path) byId("size-heading").textContent = "What each column added";
  byId("size-body").append(
    ...(path ? [element("div", { class: "card" }, ...sizeCurve(path))] : []),
    ...(steps.length ? [element("div", { class: "card" }, ...addedColumns(steps, path, openNode))] : []));
}

/** Steps of 1, 2 or 5 times a power of ten from 0 to a value. */
function ticks(most, count, least = 0) {
  const size = 10 ** Math.floor(Math.log10(most / count));
  const step = Math.max(least, [1, 2, 5, 10].map((factor) => factor * size).find((value) => value >= most / count));
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

/** A sentence and the curve, with one standard error as a band. */
function sizeCurve(path) {
  const first = path.n_features[0], last = path.n_features.at(-1);
  const top = 1.04 * Math.max(...path.log_loss.map((loss, index) => loss + path.standard_error[index]));
  const share = (loss) => 1 - Math.max(0, loss) / top;
  const at = (size, loss) => `${((1000 * size) / last).toFixed(1)},${(1000 * share(loss)).toFixed(1)}`;
  const x = (size) => `${((100 * size) / last).toFixed(2)}%`;
  const y = (loss) => `${(100 * share(loss)).toFixed(2)}%`;
  const sizes = path.n_features;
  const upper = sizes.map((size) => at(size, path.log_loss[size - first] + path.standard_error[size - first]));
  const lower = sizes.map((size) => at(size, path.log_loss[size - first] - path.standard_error[size - first]));
  const marks = sizeMarks(path);
  const short = (value, digits = 3) => String(Number(value.toPrecision(digits)));
  const chart = drawn("svg", { role: "img", "aria-label": `Log loss by number of columns. ${path.sentence}` },
    ...ticks(top, 4).flatMap((loss) => [
      drawn("line", { x1: 0, x2: "100%", y1: y(loss), y2: y(loss), class: "grid" }),
      drawn("text", { x: -8, y: y(loss), dy: 4, "text-anchor": "end" }, String(loss))]),
    ...ticks(last, 5, 1).map((size) =>
      drawn("text", { x: x(size), y: "100%", dy: 20, "text-anchor": "middle" }, String(size))),
    drawn("text", { x: "50%", y: "100%", dy: 40, "text-anchor": "middle" }, "number of columns"),
    drawn("text", { x: -36, y: -8 }, "log loss (nats)"),
    drawn("line", { x1: 0, x2: "100%", y1: y(path.limit), y2: y(path.limit), class: "limit" }),
    drawn("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", width: "100%", height: "100%" },
      drawn("polygon", { points: [...upper, ...lower.reverse()].join(" "), class: "band" }),
      drawn("polyline", { points: sizes.map((size) => at(size, path.log_loss[size - first])).join(" "), class: "trace" })),
    ...marks.flatMap(({ size, tone }) => [
      drawn("circle", { cx: x(size), cy: y(path.log_loss[size - first]), r: 6, class: `${tone} dot` }),
      drawn("text", { x: x(size), y: y(path.log_loss[size - first]), dy: -12, "text-anchor": "middle", class: "mark-label" },
        String(size))]));
  return [
    element("p", {}, path.sentence),
    element("div", { class: "curve" }, chart),
    element("ul", { class: "marks" },
      ...marks.map(({ size, tone, meaning }) => element("li", { class: tone }, swatch(),
        `${meaning}: ${plural(size, "column")}, log loss ${short(path.log_loss[size - first])} ± ${short(path.standard_error[size - first], 2)}`)),
      element("li", {}, element("span", { class: "band-mark", "aria-hidden": "true" }),
        `one standard error, over ${path.cv} folds`),
      element("li", {}, element("span", { class: "line-mark", "aria-hidden": "true" }),
        `${path.margin} above the smallest log loss`)),
    lossTable(path),
  ];
}

/** The numbers of columns that the curve marks: the one that was chosen, and the alternatives. */
function sizeMarks(path) {
  const { best, size, within_one_standard_error: fewest } = path;
  const marks = [{ size, tone: "blue", meaning: "chosen" }];
  if (fewest < Math.min(size, best)) marks.unshift({ size: fewest, tone: "grey", meaning: `fewest within ${path.margin} of the smallest` });
  const nearly = path.log_loss[best - path.n_features[0]] > Math.min(...path.log_loss) ? "nearly the smallest" : "smallest";
  if (best !== size) marks.unshift({ size: best, tone: "grey", meaning: `${nearly} log loss` });
  return marks;
}

function lossTable(path) {
  const first = path.n_features[0];
  const head = ["Columns", "Log loss", "Standard error"].map((title) => element("th", { scope: "col" }, title));
  const rows = path.n_features.map((size) => element("tr", {}, element("th", { scope: "row" }, String(size)),
    element("td", {}, figure(path.log_loss[size - first])), element("td", {}, figure(path.standard_error[size - first]))));
  return element("details", {}, element("summary", {}, "Curve as a table"),
    element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Curve" },
      element("table", { class: "counts" }, element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows))));
}

/** The columns in the order in which they joined, each with the log loss that is left after it. */
function addedColumns(steps, path, openNode) {
  const first = steps[0].node.log_loss_before;
  const row = (number, name, loss, before) => element("li", {},
    element("span", { class: "number" }, number), name, shareBar(first ? loss / first : 0),
    element("span", { class: "value" }, loss.toFixed(3)),
    element("span", { class: "fall" }, before === null ? "" : `−${Math.max(0, before - loss).toFixed(3)}`));
  const link = ({ node, id }) => element("button", { type: "button", class: "link", title: `${node.name}: show in the tree`,
    click: () => openNode(id) }, shortened(node.name, 44));
  return [
    ...(path ? [element("h3", {}, "What each column added")] : []),
    element("p", { class: "note" }, "Log loss of the model after each column joined, and by how much it fell. It is computed " +
      `on the samples that the model was fitted to${path ? ", so it is lower than in cross-validation" : ""}.`),
    element("ol", { class: "added blue", tabindex: 0, "aria-label": "Log loss after each column joined" },
      row("", element("span", { class: "none" }, baseline(steps[0].node.joined - 1)), first, null),
      ...steps.map((step) => row(String(step.node.joined), link(step), step.node.log_loss, step.node.log_loss_before))),
  ];
}

/** What the model has before the first column joins: included columns and covariates, if there are any. */
function baseline(included) {
  const covariates = facts.role_counts["conditioned on"] || 0;
  const known = [included && plural(included, "included column"), covariates && plural(covariates, "covariate")];
  return known.filter(Boolean).join(" and ") || "no column";
}
