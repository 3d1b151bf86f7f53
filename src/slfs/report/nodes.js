// One node or edge of the tree -> its SVG elements.

const largestRelevance = facts.nodes.reduce((most, node) => Math.max(most, node.relevance), 1e-12);
const largestShared = facts.nodes.reduce((most, node) => Math.max(most, node.mutual_information), 1e-12);

/** An edge, thicker if child and parent share more information. */
function drawEdge(from, to, thickest) {
  const begin = from.x + from.width + (from.id === ROOT ? 30 : 38);
  const end = to.x - 10;
  const bend = Math.max(24, (end - begin) / 2);
  const strength = facts.nodes[to.id].mutual_information / largestShared;
  return drawn("path", {
    d: `M${begin},${from.y} C${begin + bend},${from.y} ${end - bend},${to.y} ${end},${to.y}`,
    "stroke-width": (1 + thickest * strength).toFixed(2),
  });
}

/** The attributes of a node for keyboard and screen reader, in a drawing and in a list. */
function treeItem(item, { selected, focusable }) {
  const node = facts.nodes[item.id];
  return {
    role: "treeitem",
    tabindex: focusable ? 0 : -1,
    "data-node": item.id,
    "aria-label": node ? `${node.name}, relevance ${node.relevance} nats` : `${facts.class_name}, the ${facts.noun}`,
    "aria-level": item.level + 1,
    "aria-posinset": item.position,
    "aria-setsize": item.size,
    "aria-selected": selected,
    "aria-expanded": childrenOf.get(item.id).length ? item.open : null,
  };
}

/** A node with its name, larger if its relevance is higher. */
function drawNode(item, { selected, focusable }) {
  const { id, label, width } = item;
  const node = facts.nodes[id];
  const branches = childrenOf.get(id).length > 0;
  const kind = node ? toneOf(node.column) : "root";
  const radius = node ? 4 + 4.5 * Math.sqrt(node.relevance / largestRelevance) : 8;
  const mark = node
    ? drawn("circle", { r: radius.toFixed(2), class: "mark" })
    : drawn("rect", { x: -8, y: -8, width: 16, height: 16, rx: 4, class: "mark" });
  return drawn("g", {
    ...treeItem(item, { selected, focusable }),
    class: `item ${kind}${selected ? " selected" : ""}`,
    transform: `translate(${item.x},${item.y})`,
  },
  drawn("title", {}, nameOf(id)),
  drawn("rect", { x: -13, y: -13, width: width + 32, height: 26, rx: 7, class: "target" }),
  mark,
  drawn("text", { x: 14, y: 4.5 }, label),
  branches && node ? drawToggle(item, width + 27) : null);
}

/** The button that collapses a subtree, or expands it and shows its size. */
function drawToggle({ id, open }, x) {
  const count = descendants(id);
  const sign = open ? "−" : `+${count}`;
  const width = open ? 16 : 16 + 7 * String(count).length;
  return drawn("g", { class: "toggle", transform: `translate(${x},0)`, "aria-hidden": "true", "data-toggle": "" },
    drawn("title", {}, open ? "Collapse" : `Expand: ${plural(count, "feature")}`),
    drawn("rect", { x: -8, y: -8, width, height: 16, rx: 8 }),
    drawn("text", { x: -8 + width / 2, y: 4, "text-anchor": "middle" }, sign));
}
