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

/**
 * Put leaves below each other, parents at the middle of their children, and levels next to each other.
 * The class is drawn no lower than `lowest`, the levels share the width `room`, and names are cut to `letters`.
 */
function arrange(collapsed, { lowest, room, letters }) {
  const items = [];
  let next = 0;
  const visit = (id, position, size) => {
    const open = childrenOf.get(id).length > 0 && !collapsed.has(id);
    const label = shortened(nameOf(id), letters);
    const item = { id, label, open, position, size, level: levelOf(id), width: measure(label, id === ROOT) };
    items.push(item);
    const below = open ? childrenOf.get(id).map((child, index, all) => visit(child, index + 1, all.length)) : [];
    if (below.length) {
      item.y = (below[0].y + below[below.length - 1].y) / 2;
    } else {
      item.y = next * ROW;
      next += 1;
    }
    return item;
  };
  const root = visit(ROOT, 1, 1);
  root.y = Math.min(root.y, lowest);
  const widths = [];
  for (const item of items) widths[item.level] = Math.max(widths[item.level] || 0, item.width + 44);
  const gaps = Math.max(1, widths.length - 1);
  const gap = Math.max(26, Math.min(130, (room - sum(widths)) / gaps));
  const left = widths.map((_, level) => sum(widths.slice(0, level)) + gap * level);
  for (const item of items) item.x = left[item.level];
  return { items, width: left[left.length - 1] + widths[widths.length - 1], height: next * ROW };
}
