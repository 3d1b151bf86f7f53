// Mouse and touch on a drawing -> calls of move, zoom and click.

function watchPointer(drawing, { move, zoom, click }) {
  let last = null;
  let dragged = false;
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = { x: event.clientX, y: event.clientY };
    dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!last) return;
    const [x, y] = [event.clientX - last.x, event.clientY - last.y];
    if (!dragged && Math.hypot(x, y) < 4) return;
    dragged = true;
    drawing.classList.add("dragged");
    last = { x: event.clientX, y: event.clientY };
    move(x, y);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => {
      last = null;
      drawing.classList.remove("dragged");
    });
  }
  drawing.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !drawing.contains(document.activeElement)) return; // scroll the page
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  drawing.addEventListener("click", (event) => {
    const node = event.target.closest("[data-node]");
    if (!dragged && node) click(Number(node.dataset.node), event.target.closest("[data-toggle]") !== null);
  });
}
