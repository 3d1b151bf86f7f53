// The tree as a list: one line per node with its full name. For many nodes, and for narrow screens.

function makeList() {
  const list = byId("list");

  function row(item, { selected, focusable }) {
    const { id } = item;
    const node = facts.nodes[id];
    const share = node && facts.class_entropy ? node.relevance / facts.class_entropy : 0;
    const count = descendants(id);
    const made = element("div", {
      ...treeItem(item, { selected, focusable }),
      class: `line ${node ? toneOf(node.column) : "root"}${selected ? " selected" : ""}`,
    },
    count && node
      ? element("span", { class: "fold", "aria-hidden": "true", "data-toggle": "" }, item.open ? "−" : `+${count}`)
      : element("span", { class: "fold none", "aria-hidden": "true" }),
    swatch(),
    element("span", { class: "line-name" }, nameOf(id)),
    ...(node ? [shareBar(share), element("span", { class: "line-share" }, `${Math.round(100 * share)}%`)] : []));
    made.style.paddingLeft = `${8 + 18 * Math.min(item.level, 8)}px`;
    return made;
  }

  return {
    frame: list,
    draw: (state) => {
      const items = visibleItems(state.collapsed);
      list.replaceChildren(...items.map((item) =>
        row(item, { selected: item.id === state.selected, focusable: item.id === state.active })));
      return items;
    },
    reveal: (id) => {
      const line = list.querySelector(`[data-node="${id}"]`);
      const top = line.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + line.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = top - list.clientHeight / 2;
      }
    },
    clear: () => list.replaceChildren(),
    fit: () => {},
  };
}
