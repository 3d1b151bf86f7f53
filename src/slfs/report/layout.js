// The nodes of the tree and the set of collapsed ones -> the position of each visible node.

const ROOT = -1;
const ROW = 30;

const childrenOf = new Map([[ROOT, []]]);
facts.nodes.forEach((_, id) => childrenOf.set(id, []));
facts.nodes.forEach((node, id) => childrenOf.get(node.parent).push(id));
for (const children of childrenOf.values()) {
  children.sort((a, b) => facts.nodes[b].relevance - facts.nodes[a].relevance || a - b);
}

const nameOf = (id) => (id === ROOT ? facts.class_name : facts.nodes[id].name);
const levelOf = (id) => (id === ROOT ? 0 : facts.nodes[id].level);
const parentOf = (id) => (id === ROOT ? null : facts.nodes[id].parent);

function ancestors(id) {
  const found = [];
  for (let above = parentOf(id); above !== null; above = parentOf(above)) found.push(above);
  return found;
}

const descendants = (id) => sum(childrenOf.get(id).map((child) => 1 + descendants(child)));

const measure = (() => {
  const pen = document.createElement("canvas").getContext("2d");
  return (text, bold) => {
    pen.font = `${bold ? 600 : 400} 13px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
})();

/** The visible nodes: each node before its children, siblings by relevance. */
function visibleItems(collapsed) {
  const items = [];
  const visit = (id, position, size) => {
    const children = childrenOf.get(id);
    const open = children.length > 0 && !collapsed.has(id);
    items.push({ id, open, position, size, level: levelOf(id) });
    if (open) children.forEach((child, index) => visit(child, index + 1, children.length));
  };
  visit(ROOT, 1, 1);
  return items;
}

/**
 * Put leaves below each other, parents at the middle of their children, and levels next to each other.
 * The class is drawn no lower than `lowest`, the levels share the width `room`, and names are cut to `letters`.
 */
function arrange(collapsed, { lowest, room, letters }) {
  const items = visibleItems(collapsed);
  const itemOf = new Map(items.map((item) => [item.id, item]));
  let next = 0;
  for (const item of items) {
    item.label = shortened(nameOf(item.id), letters);
    item.width = measure(item.label, item.id === ROOT);
    if (!item.open) {
      item.y = next * ROW;
      next += 1;
    }
  }
  for (const item of [...items].reverse()) { // children have their position before their parent
    const below = item.open ? childrenOf.get(item.id) : [];
    if (below.length) item.y = (itemOf.get(below[0]).y + itemOf.get(below.at(-1)).y) / 2;
  }
  items[0].y = Math.min(items[0].y, lowest);
  const widths = [];
  for (const item of items) widths[item.level] = Math.max(widths[item.level] || 0, item.width + 44);
  const gaps = Math.max(1, widths.length - 1);
  const gap = Math.max(26, Math.min(130, (room - sum(widths)) / gaps));
  const left = widths.map((_, level) => sum(widths.slice(0, level)) + gap * level);
  for (const item of items) item.x = left[item.level];
  return { items, width: left[left.length - 1] + widths[widths.length - 1], height: next * ROW };
}
