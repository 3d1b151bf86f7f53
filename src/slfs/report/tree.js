// The tree as a drawing: drag to move, wheel or buttons to zoom, arrow keys to walk, + and − to fold.

const MANY_NODES = 60;
const MARGIN = 28;

function makeTree(choose) {
  const drawing = byId("drawing");
  const world = drawn("g");
  drawing.append(world);
  const inner = facts.nodes.map((_, place) => place).filter((place) => childrenOf.get(place).length > 0);
  const folded = new Set(facts.nodes.length > MANY_NODES ? inner : []);
  const most = { relevance: 1e-12, mutual_information: 1e-12 };
  for (const node of facts.nodes) {
    for (const field of Object.keys(most)) most[field] = Math.max(most[field], node[field]);
  }
  const view = { x: MARGIN, y: MARGIN, scale: 1 };
  let active = ROOT;
  let chosen = ROOT;
  let plan = null;

  const narrow = () => drawing.clientWidth < 560;
  const tallest = () => Math.max(300, Math.min(640, window.innerHeight * 0.7));
  const itemAt = (place) => plan.items.find((item) => item.place === place);

  function draw() {
    plan = arrange(folded, {
      lowest: narrow() ? Infinity : tallest() / 2, // the class of a tall tree stays in sight
      room: drawing.clientWidth - 2 * MARGIN,
      letters: narrow() ? 18 : 34,
    });
    const thickest = plan.items.length > 45 ? 1.5 : 3.5;
    const byPlace = new Map(plan.items.map((item) => [item.place, item]));
    const links = plan.items.filter((item) => item.place !== ROOT)
      .map((item) => drawLink(byPlace.get(parentOf(item.place)), item, thickest));
    world.replaceChildren(drawn("g", { class: "links", "aria-hidden": "true" }, ...links),
      ...plan.items.map(drawItem));
    place();
  }

  function drawLink(from, to, thickest) {
    const begin = from.x + from.width + (from.place === ROOT ? 30 : 38);
    const bend = Math.max(24, (to.x - 10 - begin) / 2);
    const strength = facts.nodes[to.place].mutual_information / most.mutual_information;
    return drawn("path", {
      d: `M${begin},${from.y} C${begin + bend},${from.y} ${to.x - 10 - bend},${to.y} ${to.x - 10},${to.y}`,
      "stroke-width": (1 + thickest * strength).toFixed(2),
    });
  }

  function drawItem(item) {
    const { place, label, width } = item;
    const node = facts.nodes[place];
    const branches = childrenOf.get(place).length > 0;
    const kind = place === ROOT ? "root" : item.level === 1 ? "blue" : "orange";
    const radius = node ? 4 + 4.5 * Math.sqrt(node.relevance / most.relevance) : 8;
    const mark = node
      ? drawn("circle", { r: radius.toFixed(2), class: "mark" })
      : drawn("rect", { x: -8, y: -8, width: 16, height: 16, rx: 4, class: "mark" });
    const spoken = node ? `${node.name}, relevance ${node.relevance} nats` : `${facts.class_name}, the class`;
    return drawn("g", {
      class: `item ${kind}${place === chosen ? " chosen" : ""}`,
      transform: `translate(${item.x},${item.y})`,
      role: "treeitem",
      tabindex: place === active ? 0 : -1,
      "data-place": place,
      "aria-label": spoken,
      "aria-level": item.level + 1,
      "aria-posinset": item.position,
      "aria-setsize": item.size,
      "aria-selected": place === chosen,
      "aria-expanded": branches ? item.open : null,
    },
    drawn("title", {}, nameOf(place)),
    drawn("rect", { x: -13, y: -13, width: width + 32, height: 26, rx: 7, class: "target" }),
    mark,
    drawn("text", { x: 14, y: 4.5 }, label),
    branches && node ? drawFold(item, width + 27) : null);
  }

  function drawFold({ place, open }, x) {
    const count = descendants(place);
    const sign = open ? "−" : `+${count}`;
    const wide = open ? 16 : 16 + 7 * String(count).length;
    return drawn("g", { class: "fold", transform: `translate(${x},0)`, "aria-hidden": "true", "data-fold": "" },
      drawn("title", {}, open ? "Fold what is below" : `Show ${plural(count, "feature")} below`),
      drawn("rect", { x: -8, y: -8, width: wide, height: 16, rx: 8 }),
      drawn("text", { x: -8 + wide / 2, y: 4, "text-anchor": "middle" }, sign));
  }

  /** Put the drawing where the view says, and keep some of it in sight. */
  function place() {
    const height = plan.height * view.scale + 2 * MARGIN;
    drawing.style.height = `${narrow() ? height : Math.min(Math.max(height, 220), tallest())}px`;
    const spare = { x: drawing.clientWidth - 80, y: drawing.clientHeight - 60 };
    view.x = Math.min(spare.x, Math.max(80 - plan.width * view.scale, view.x));
    view.y = narrow() ? MARGIN : Math.min(spare.y, Math.max(60 - plan.height * view.scale, view.y));
    world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  }

  function fit(least) {
    draw();
    const wide = (drawing.clientWidth - MARGIN - 12) / plan.width;
    const high = narrow() ? 1 : (tallest() - 2 * MARGIN) / plan.height;
    view.scale = Math.min(1.15, Math.max(least, Math.min(wide, high)));
    view.x = MARGIN;
    view.y = MARGIN;
    place();
    const slack = drawing.clientHeight - (plan.height - ROW) * view.scale;
    if (!narrow() && slack > 2 * MARGIN) view.y = slack / 2;
    place();
  }

  function zoom(factor, x = drawing.clientWidth / 2, y = drawing.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.15, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    place();
  }

  function reveal(target) {
    const item = itemAt(target);
    const x = view.x + item.x * view.scale;
    const y = view.y + item.y * view.scale;
    const right = drawing.clientWidth - (item.width + 50) * view.scale;
    if (x < MARGIN || x > right) view.x += Math.max(MARGIN, Math.min(x, right)) - x;
    if (y < MARGIN || y > drawing.clientHeight - MARGIN) view.y += drawing.clientHeight / 2 - y;
    place();
  }

  function walkTo(target) {
    active = target;
    draw();
    reveal(target);
    world.querySelector(`[data-place="${target}"]`).focus({ preventScroll: !narrow() });
  }

  function toggle(target) {
    if (!folded.delete(target)) folded.add(target);
    walkTo(target);
  }

  function open(target) {
    for (const above of ancestors(target)) folded.delete(above);
    active = chosen = target;
    draw();
    reveal(target);
    choose(target);
  }

  const step = (by) => {
    const next = plan.items[plan.items.findIndex((item) => item.place === active) + by];
    if (next) walkTo(next.place);
  };
  const show = () => {
    open(active);
    walkTo(active);
  };
  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Home: () => walkTo(ROOT),
    End: () => walkTo(plan.items.at(-1).place),
    ArrowRight: () => (folded.has(active) ? toggle(active) : walkTo(childrenOf.get(active)[0] ?? active)),
    ArrowLeft: () => {
      if (active === ROOT) return;
      if (itemAt(active).open) toggle(active);
      else walkTo(parentOf(active));
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

  drawing.addEventListener("click", (event) => {
    const fold = event.target.closest("[data-fold]");
    const item = event.target.closest("[data-place]");
    if (dragged || !item) return;
    active = Number(item.dataset.place);
    if (fold) {
      toggle(active);
    } else {
      show();
      if (narrow()) byId("panel").scrollIntoView({ block: "start" });
    }
  });

  let last = null;
  let dragged = false;
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = { x: event.clientX, y: event.clientY };
    dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!last) return;
    const move = { x: event.clientX - last.x, y: event.clientY - last.y };
    if (!dragged && Math.hypot(move.x, move.y) < 4) return;
    dragged = true;
    drawing.classList.add("dragged");
    view.x += move.x;
    view.y += move.y;
    last = { x: event.clientX, y: event.clientY };
    place();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => {
      last = null;
      drawing.classList.remove("dragged");
    });
  }
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !drawing.contains(document.activeElement)) return; // the page scrolls on
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  byId("zoom-in").addEventListener("click", () => zoom(1.25));
  byId("zoom-out").addEventListener("click", () => zoom(0.8));
  byId("fit").addEventListener("click", () => fit(0.15));
  byId("expand").hidden = byId("collapse").hidden = inner.length === 0;
  byId("expand").addEventListener("click", () => {
    folded.clear();
    fit(0.8);
  });
  byId("collapse").addEventListener("click", () => {
    inner.forEach((target) => folded.add(target));
    active = ancestors(active).at(-2) ?? active;
    fit(0.8);
  });
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", () => {
    drawing.setAttribute("viewBox", `-14 -20 ${plan.width + 28} ${plan.height + 20}`);
    world.removeAttribute("transform");
    drawing.style.height = "";
  });
  window.addEventListener("afterprint", () => {
    drawing.removeAttribute("viewBox");
    place();
  });

  fit(0.75);
  return { open };
}
