// The tree as an SVG drawing that can be moved, zoomed, collapsed and read with the keyboard.

const MANY_NODES = 60;
const MARGIN = 28;

function makeTree(showDetails) {
  const drawing = byId("drawing");
  const world = drawn("g");
  drawing.append(world);
  const inner = facts.nodes.map((_, id) => id).filter((id) => childrenOf.get(id).length > 0);
  const collapsed = new Set(facts.nodes.length > MANY_NODES ? inner : []);
  const view = { x: MARGIN, y: MARGIN, scale: 1 };
  let active = ROOT; // the node that the keyboard has reached
  let selected = ROOT; // the node whose details are shown
  let plan = null;

  const narrow = () => drawing.clientWidth < 560;
  const maxHeight = () => Math.max(300, Math.min(640, window.innerHeight * 0.7));
  const itemOf = (id) => plan.items.find((item) => item.id === id);

  function draw() {
    plan = arrange(collapsed, {
      lowest: narrow() ? Infinity : maxHeight() / 2, // keeps the class of a tall tree visible
      room: drawing.clientWidth - 2 * MARGIN,
      letters: narrow() ? 18 : 34,
    });
    const thickest = plan.items.length > 45 ? 1.5 : 3.5;
    const items = new Map(plan.items.map((item) => [item.id, item]));
    const edges = plan.items.filter((item) => item.id !== ROOT)
      .map((item) => drawEdge(items.get(parentOf(item.id)), item, thickest));
    const nodes = plan.items.map((item) =>
      drawNode(item, { selected: item.id === selected, focusable: item.id === active }));
    world.replaceChildren(drawn("g", { class: "links", "aria-hidden": "true" }, ...edges), ...nodes);
    showView();
  }

  /** Apply the current offset and scale; part of the tree always stays visible. */
  function showView() {
    const height = plan.height * view.scale + 2 * MARGIN;
    drawing.style.height = `${narrow() ? height : Math.min(Math.max(height, 220), maxHeight())}px`;
    const spare = { x: drawing.clientWidth - 80, y: drawing.clientHeight - 60 };
    view.x = Math.min(spare.x, Math.max(80 - plan.width * view.scale, view.x));
    view.y = narrow() ? MARGIN : Math.min(spare.y, Math.max(60 - plan.height * view.scale, view.y));
    world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  }

  function fit(minScale) {
    draw();
    const wide = (drawing.clientWidth - MARGIN - 12) / plan.width;
    const high = narrow() ? 1 : (maxHeight() - 2 * MARGIN) / plan.height;
    view.scale = Math.min(1.15, Math.max(minScale, Math.min(wide, high)));
    view.x = MARGIN;
    view.y = MARGIN;
    showView();
    const slack = drawing.clientHeight - (plan.height - ROW) * view.scale;
    if (!narrow() && slack > 2 * MARGIN) view.y = slack / 2;
    showView();
  }

  function zoom(factor, x = drawing.clientWidth / 2, y = drawing.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.15, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    showView();
  }

  function reveal(id) {
    const item = itemOf(id);
    const x = view.x + item.x * view.scale;
    const y = view.y + item.y * view.scale;
    const right = drawing.clientWidth - (item.width + 50) * view.scale;
    if (x < MARGIN || x > right) view.x += Math.max(MARGIN, Math.min(x, right)) - x;
    if (y < MARGIN || y > drawing.clientHeight - MARGIN) view.y += drawing.clientHeight / 2 - y;
    showView();
  }

  function focus(id) {
    active = id;
    draw();
    reveal(id);
    world.querySelector(`[data-node="${id}"]`).focus({ preventScroll: !narrow() });
  }

  function toggle(id) {
    if (!collapsed.delete(id)) collapsed.add(id);
    focus(id);
  }

  /** Select a node and expand everything above it. */
  function open(id) {
    for (const above of ancestors(id)) collapsed.delete(above);
    active = selected = id;
    draw();
    reveal(id);
    showDetails(id);
  }

  function step(by) {
    const next = plan.items[plan.items.findIndex((item) => item.id === active) + by];
    if (next) focus(next.id);
  }

  function show() {
    open(active);
    focus(active);
  }

  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Home: () => focus(ROOT),
    End: () => focus(plan.items.at(-1).id),
    ArrowRight: () => (collapsed.has(active) ? toggle(active) : focus(childrenOf.get(active)[0] ?? active)),
    ArrowLeft: () => {
      if (active === ROOT) return;
      if (itemOf(active).open) toggle(active);
      else focus(parentOf(active));
    },
    Enter: show,
    " ": show,
  };
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8);
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  watchPointer(drawing, {
    move: (x, y) => {
      view.x += x;
      view.y += y;
      showView();
    },
    zoom,
    click: (id, onToggle) => {
      active = id;
      if (onToggle) {
        toggle(id);
      } else {
        show();
        if (narrow()) byId("panel").scrollIntoView({ block: "start" });
      }
    },
  });

  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("fit").addEventListener("click", () => fit(0.15));
  byId("expand").hidden = byId("collapse").hidden = inner.length === 0;
  byId("expand").addEventListener("click", () => {
    collapsed.clear();
    fit(0.8);
  });
  byId("collapse").addEventListener("click", () => {
    inner.forEach((id) => collapsed.add(id));
    active = ancestors(active).at(-2) ?? active;
    fit(0.8);
  });
  window.addEventListener("resize", () => {
    if (drawing.clientWidth > 0) draw(); // 0: not displayed at the moment
  });
  window.addEventListener("beforeprint", () => {
    drawing.setAttribute("viewBox", `-14 -20 ${plan.width + 28} ${plan.height + 20}`);
    world.removeAttribute("transform");
    drawing.style.height = "";
  });
  window.addEventListener("afterprint", () => {
    drawing.removeAttribute("viewBox");
    showView();
  });

  fit(0.75);
  return { open };
}
