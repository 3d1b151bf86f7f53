// The nodes of the tree and which of them are folded -> where each visible node stands.

const ROOT = -1;
const ROW = 30;

const childrenOf = new Map([[ROOT, []]]);
facts.nodes.forEach((_, place) => childrenOf.set(place, []));
facts.nodes.forEach((node, place) => childrenOf.get(node.parent).push(place));
for (const children of childrenOf.values()) {
  children.sort((a, b) => facts.nodes[b].relevance - facts.nodes[a].relevance || a - b);
}

const nameOf = (place) => (place === ROOT ? facts.class_name : facts.nodes[place].name);
const levelOf = (place) => (place === ROOT ? 0 : facts.nodes[place].level);
const parentOf = (place) => (place === ROOT ? null : facts.nodes[place].parent);

function ancestors(place) {
  const found = [];
  for (let above = parentOf(place); above !== null; above = parentOf(above)) found.push(above);
  return found;
}

const descendants = (place) => sum(childrenOf.get(place).map((child) => 1 + descendants(child)));

const measure = (() => {
  const pen = document.createElement("canvas").getContext("2d");
  return (text, bold) => {
    pen.font = `${bold ? 600 : 400} 13px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
})();

/**
 * Leaves one below another, parents beside the middle of their children, levels side by side.
 * The class stands no lower than `lowest`; levels share the `room` there is; names have `letters` at most.
 */
function arrange(folded, { lowest, room, letters }) {
  const items = [];
  let next = 0;
  const visit = (place, position, size) => {
    const open = childrenOf.get(place).length > 0 && !folded.has(place);
    const label = shortened(nameOf(place), letters);
    const item = { place, label, open, position, size, level: levelOf(place), width: measure(label, place === ROOT) };
    items.push(item);
    const below = open ? childrenOf.get(place).map((child, index, all) => visit(child, index + 1, all.length)) : [];
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
