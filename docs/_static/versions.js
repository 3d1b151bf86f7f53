// A list of the published versions below the name of the site. docs/publish.py writes switcher.json beside their folders;
// where there is none, as in a local build, there is no list.
(async () => {
  if (!location.protocol.startsWith("http")) return;
  const here = new URL(document.documentElement.dataset.content_root, location.href);
  const answer = await fetch(new URL("../switcher.json", here));
  if (!answer.ok) return;
  const list = document.createElement("select");
  list.className = "versions";
  list.ariaLabel = "Version of the documentation";
  for (const { name, url } of await answer.json()) {
    const target = new URL(url, here).href;
    list.add(new Option(name, target, false, target === here.href));
  }
  list.addEventListener("change", async () => {
    const page = new URL(location.pathname.slice(here.pathname.length), list.value);
    const exists = await fetch(page, { method: "HEAD" });
    location.assign(exists.ok ? page : list.value); // pages may be new, or renamed
  });
  document.querySelector(".sidebar-brand").after(list);
})();
