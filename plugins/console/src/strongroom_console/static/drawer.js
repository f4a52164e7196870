// The details of a file in a drawer at the side of the list. Everything in it is the page of the file.

import {adopted, fetchPage} from "./documents.js";

const drawer = document.getElementById("drawer");
const content = drawer?.querySelector("article");

export async function openDrawer(url) {
  try {
    const page = await fetchPage(url);
    const sheet = page.querySelector("main .sheet");
    renameIds(sheet);
    content.replaceChildren(...adopted(sheet));
    drawer.querySelector("a[data-page]").href = url;
    if (!drawer.open) drawer.showModal();
    const heading = content.querySelector("h1");
    heading.tabIndex = -1;
    heading.focus();
  } catch {
    location.assign(url);
  }
}

// The ids of the list are taken: a label must find the field of its own form.
function renameIds(root) {
  const renamed = (id) => (root.querySelector(`#${CSS.escape(id)}`) ? `drawer-${id}` : id);
  const references = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "href"];
  for (const name of references) {
    for (const element of root.querySelectorAll(`[${name}]`)) {
      const value = element.getAttribute(name);
      if (name === "href" && !value.startsWith("#")) continue;
      const ids = name === "href" ? [value.slice(1)] : value.split(/\s+/);
      element.setAttribute(name, (name === "href" ? "#" : "") + ids.map(renamed).join(" "));
    }
  }
  for (const element of root.querySelectorAll("[id]")) element.id = `drawer-${element.id}`;
}

if (drawer) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#nodes a, #drawer .tabs a");
    const isPlain = !event.defaultPrevented && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!isPlain || !link?.matches('[href*="/nodes/"]:not([download])')) return;
    event.preventDefault();
    openDrawer(link.href);
  });
  document.addEventListener("strongroom:details", (event) => openDrawer(event.detail));
  // Players stop.
  drawer.addEventListener("close", () => content.replaceChildren());
}
