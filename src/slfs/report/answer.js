// The selected columns, strongest role first, as the first thing that a reader sees; and warnings.

const MOST_PICKS = { wide: 15, narrow: 8 };

function showAnswer(openNode, showSelected) {
  showWarnings();
  const roleOrder = Object.keys(facts.role_counts);
  const rank = (node) => roleOrder.indexOf(roleOf(node.column));
  const ids = facts.nodes.map((_, id) => id).sort((a, b) =>
    rank(facts.nodes[a]) - rank(facts.nodes[b]) || facts.nodes[b].relevance - facts.nodes[a].relevance || a - b);
  const most = window.innerWidth < 720 ? MOST_PICKS.narrow : MOST_PICKS.wide;
  byId("picks").append(...ids.slice(0, most).map((id) => element("li", {}, pick(facts.nodes[id], id, openNode))));
  if (ids.length > most) {
    byId("picks").after(element("button", { type: "button", class: "more screen", click: showSelected },
      `Show all ${whole(ids.length)} in the table`));
  }
  if (ids.length === 0) byId("answer").replaceChildren(...noPicks());
  if (facts.stability) byId("answer").append(element("p", { class: "note" }, stabilityText(facts.stability)));
}

/** A selected column: its name, its share of the class entropy, its role and how sure it is. */
function pick(node, id, openNode) {
  const share = facts.class_entropy ? node.relevance / facts.class_entropy : 0;
  const notes = [
    roleOf(node.column).split(",")[0],
    node.frequency && `${node.frequency} subsamples`,
    node.evidence && `evidence: ${node.evidence}${node.pair_evidence ? ` alone, ${node.pair_evidence} in a pair` : ""}`,
    node.n_categories && `${node.n_categories} categories: likely less relevant in new samples`,
  ];
  return element("button", {
    type: "button",
    class: `pick ${toneOf(node.column)}`,
    title: `${node.name}: show in the tree`,
    click: () => openNode(id),
  },
  swatch(),
  element("span", { class: "pick-name" }, shortened(node.name, 44)),
  element("span", { class: "pick-share" }, `${Math.round(100 * share)}%`),
  element("span", { class: "pick-note" }, notes.filter(Boolean).join(" · ")),
  shareBar(share));
}

function noPicks() {
  const counts = new Map();
  for (const reason of facts.columns.reason) counts.set(reason, (counts.get(reason) || 0) + 1);
  const reasons = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return [
    element("h2", {}, "No column was selected"),
    element("p", {}, "The most frequent reasons are:"),
    element("ul", {}, ...reasons.map(([reason, count]) =>
      element("li", {}, `${plural(count, "column")}: ${facts.reasons[reason]}. For example, ` +
        explanation(facts.columns.reason.indexOf(reason))))),
  ];
}

function stabilityText(stability) {
  const value = stability.value?.toFixed(2) ?? "unknown";
  const interval = stability.value === null || stability.low === null ? "" :
    ` (${Math.round(100 * stability.level)}% interval ${stability.low.toFixed(2)} to ${stability.high.toFixed(2)})`;
  return `Stability over ${stability.n_subsamples} subsamples: ${value}${interval}. 1: the same columns in every ` +
    "subsample; 0: no more agreement than by chance.";
}

function showWarnings() {
  const box = byId("warnings");
  box.hidden = facts.warnings.length === 0;
  box.append(...facts.warnings.map((text) => element("li", {}, text)));
}

function showDuplicates() {
  const section = byId("duplicates");
  if (facts.duplicates.length === 0) {
    section.remove();
    return;
  }
  byId("duplicates-body").append(...facts.duplicates.map((group) => element("li", {}, group.join(", "))));
}
