// The tree as an SVG drawing that can be moved and zoomed.

const MARGIN = 28;
/** Names are not legible below this scale. */
const SMALLEST_SCALE = 0.5;

function makeDrawing(click) {
  const drawing = byId("drawing");
  const world = drawn("g");
  drawing.append(world);
  const view = { x: MARGIN, y: MARGIN, scale: 1 };
  let plan = null;

  const narrow = () => drawing.clientWidth < 560;
  const maxHeight = () => Math.max(300, Math.min(640, window.innerHeight * 0.7));

  function draw({ collapsed, selected, active }) {
    const room = drawing.clientWidth - 2 * MARGIN;
    const lowest = narrow() ? Infinity : maxHeight() / 2; // keeps the class of a tall tree visible
    plan = arrange(collapsed, { lowest, room, letters: 34 });
    if (plan.width > 1.2 * room) plan = arrange(collapsed, { lowest, room, letters: 22 });
    const thickest = plan.items.length > 45 ? 1.5 : 3.5;
    const items = new Map(plan.items.map((item) => [item.id, item]));
    const edges = plan.items.filter((item) => item.id !== ROOT)
      .map((item) => drawEdge(items.get(parentOf(item.id)), item, thickest));
    const nodes = plan.items.map((item) =>
      drawNode(item, { selected: item.id === selected, focusable: item.id === active }));
    world.replaceChildren(drawn("g", { class: "links", "aria-hidden": "true" }, ...edges), ...nodes);
    showView();
    return plan.items;
  }

  /** Apply the current offset and scale; part of the tree always stays visible. */
  function showView() {
    const height = plan.height * view.scale + 2 * MARGIN;
    drawing.style.height = `${Math.min(Math.max(height, 220), maxHeight())}px`;
    const spare = { x: drawing.clientWidth - 80, y: drawing.clientHeight - 60 };
    view.x = Math.min(spare.x, Math.max(80 - plan.width * view.scale, view.x));
    view.y = Math.min(spare.y, Math.max(60 - plan.height * view.scale, view.y));
    world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  }

  function fit(smallest) {
    const wide = (drawing.clientWidth - MARGIN - 12) / plan.width;
    const high = (maxHeight() - 2 * MARGIN) / plan.height;
    view.scale = Math.min(1.15, Math.max(smallest, Math.min(wide, high)));
    view.x = MARGIN;
    view.y = MARGIN;
    showView();
    const slack = drawing.clientHeight - (plan.height - ROW) * view.scale;
    if (slack > 2 * MARGIN) view.y = slack / 2;
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
    const item = plan.items.find((one) => one.id === id);
    const x = view.x + item.x * view.scale;
    const y = view.y + item.y * view.scale;
    const right = drawing.clientWidth - (item.width + 50) * view.scale;
    if (x < MARGIN || x > right) view.x += Math.max(MARGIN, Math.min(x, right)) - x;
    if (y < MARGIN || y > drawing.clientHeight - MARGIN) view.y += drawing.clientHeight / 2 - y;
    showView();
  }

  drawing.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8);
  });
  watchPointer(drawing, {
    move: (x, y) => {
      view.x += x;
      view.y += y;
      showView();
    },
    zoom,
    click,
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("fit").addEventListener("click", () => fit(SMALLEST_SCALE));
  window.addEventListener("beforeprint", () => {
    if (!plan) return;
    drawing.setAttribute("viewBox", `-14 -20 ${plan.width + 28} ${plan.height + 20}`);
    world.removeAttribute("transform");
    drawing.style.height = "";
  });
  window.addEventListener("afterprint", () => {
    if (!plan) return;
    drawing.removeAttribute("viewBox");
    showView();
  });
  const clear = () => {
    plan = null;
    world.replaceChildren();
  };
  return { frame: drawing, draw, reveal, fit, clear };
}
