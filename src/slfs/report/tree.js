// The tree of selected columns: expanded and collapsed, read with the keyboard, as a drawing or as a list.

const MANY_NODES = 60;
const TREE_NOTES = {
  drawing: "Drag to move, zoom with the buttons, or with the mouse wheel after a click. ",
  list: "",
};

function makeTree(showDetails) {
  const inner = facts.nodes.map((_, id) => id).filter((id) => childrenOf.get(id).length > 0);
  const collapsed = new Set(facts.nodes.length > MANY_NODES ? inner : []);
  const narrow = () => window.innerWidth < 720;
  // active: the node that the keyboard has reached; selected: the node whose details are shown
  const state = { collapsed, active: ROOT, selected: ROOT };
  const views = { drawing: makeDrawing(click), list: makeList() };
  let view = views[narrow() || facts.nodes.length > MANY_NODES ? "list" : "drawing"];
  let items = [];

  function draw() {
    items = view.draw(state);
  }

  function show(chosen) {
    view = chosen;
    for (const [name, one] of Object.entries(views)) {
      const own = one === view;
      one.frame.toggleAttribute("hidden", !own); // SVG elements have no property of this name
      if (!own) one.clear();
      byId(`as-${name}`).setAttribute("aria-pressed", String(own));
    }
    for (const id of ["zoom-in", "zoom-out", "fit"]) byId(id).hidden = view !== views.drawing;
    byId("tree-note").textContent = `Select a column to see its details. ${TREE_NOTES[view.frame.id]}` +
      "Keyboard: arrow keys move, expand and collapse; Enter shows the details.";
    byId("tree-legend").classList.toggle("of-list", view === views.list);
    draw();
    view.fit(0.75);
    view.reveal(state.active);
  }

  function focus(id) {
    state.active = id;
    draw();
    view.reveal(id);
    view.frame.querySelector(`[data-node="${id}"]`).focus({ preventScroll: !narrow() });
  }

  function toggle(id) {
    if (!collapsed.delete(id)) collapsed.add(id);
    focus(id);
  }

  /** Select a node and expand everything above it. */
  function open(id) {
    for (const above of ancestors(id)) collapsed.delete(above);
    state.active = state.selected = id;
    draw();
    view.reveal(id);
    showDetails(id);
  }

  function step(by) {
    const next = items[items.findIndex((item) => item.id === state.active) + by];
    if (next) focus(next.id);
  }

  function choose() {
    open(state.active);
    focus(state.active);
  }

  function click(id, onToggle) {
    state.active = id;
    if (onToggle) {
      toggle(id);
    } else {
      choose();
      if (narrow()) byId("panel").scrollIntoView({ block: "start" });
    }
  }

  const isOpen = (id) => items.find((item) => item.id === id).open;
  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Home: () => focus(ROOT),
    End: () => focus(items.at(-1).id),
    ArrowRight: () =>
      (collapsed.has(state.active) ? toggle(state.active) : focus(childrenOf.get(state.active)[0] ?? state.active)),
    ArrowLeft: () => {
      if (state.active === ROOT) return;
      if (isOpen(state.active)) toggle(state.active);
      else focus(parentOf(state.active));
    },
    Enter: choose,
    " ": choose,
  };
  for (const { frame } of Object.values(views)) {
    frame.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
  views.list.frame.addEventListener("click", (event) => {
    const line = event.target.closest("[data-node]");
    if (line) click(Number(line.dataset.node), event.target.closest("[data-toggle]") !== null);
  });
  byId("expand").hidden = byId("collapse").hidden = inner.length === 0;
  byId("expand").addEventListener("click", () => {
    collapsed.clear();
    draw();
    view.fit(0.8);
  });
  byId("collapse").addEventListener("click", () => {
    inner.forEach((id) => collapsed.add(id));
    state.active = ancestors(state.active).at(-2) ?? state.active;
    draw();
    view.fit(0.8);
  });
  for (const name of Object.keys(views)) byId(`as-${name}`).addEventListener("click", () => show(views[name]));
  window.addEventListener("resize", () => {
    if (view.frame.clientWidth > 0) draw(); // 0: not displayed at the moment
  });

  show(view);
  return { open };
}
