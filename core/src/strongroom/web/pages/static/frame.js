// The menus of the frame: the places of an area are read when the switcher opens. Links lead there without it.

import {fetchPage} from "./documents.js";
import {folded} from "./texts.js";

const FEW = 8; // Places that are seen at a glance.

async function fill(box) {
  const list = document.adoptNode((await fetchPage(box.dataset.choices)).querySelector("ul"));
  for (const link of list.querySelectorAll("[data-root]")) {
    if (location.pathname.startsWith(link.dataset.root)) link.ariaCurrent = "true";
  }
  box.replaceChildren(list);
  if (list.children.length > FEW) box.prepend(searchOf(box, list));
}

function searchOf(box, list) {
  const none = Object.assign(document.createElement("p"), {className: "hint", textContent: box.dataset.none, hidden: true});
  const input = Object.assign(document.createElement("input"), {
    type: "search", autocomplete: "off", placeholder: box.dataset.find, ariaLabel: box.dataset.find,
  });
  input.addEventListener("input", () => {
    for (const item of list.children) item.hidden = !folded(item.textContent).includes(folded(input.value));
    none.hidden = [...list.children].some((item) => !item.hidden);
  });
  list.after(none);
  return input;
}

for (const box of document.querySelectorAll("[data-choices]")) {
  box.closest("[popover]").addEventListener("toggle", (event) => {
    if (event.newState === "open" && !box.childElementCount) fill(box).catch(() => {});
  });
}

const palette = document.getElementById("palette");

// Links that a modified click opens elsewhere open in place: a page that asks as a dialog, the search as the palette.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-palette], [data-asks]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain) return;
  event.preventDefault();
  openInPlace(link);
});

async function openInPlace(link) {
  try {
    if (link.matches("[data-palette]")) {
      const {open} = await import("./palette.js");
      open(palette, new URL(link.href));
    } else {
      const {openQuestion} = await import("./questions.js");
      await openQuestion(link);
    }
  } catch {
    location.assign(link.href); // The network has failed, or the server has another version now.
  }
}

if (palette) {
  const link = document.querySelector("[data-palette]");
  document.addEventListener("keydown", (event) => {
    const isKey = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k";
    if (!isKey || event.isComposing || document.querySelector("dialog[open]:not(#palette)")) return;
    event.preventDefault();
    openInPlace(link);
  });
}
