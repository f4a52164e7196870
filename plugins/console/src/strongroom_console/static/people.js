// Lists of people: a search that applies while one types, a box that selects all rows, and the panel of a row.

import {adopted, fetchPage} from "strongroom/documents.js";
import "./drawer.js";

const PAUSE = 250; // Milliseconds without a key after which the list is fetched.

for (const form of document.querySelectorAll("form[data-live]")) prepareSearch(form);
prepareSelection();

function prepareSearch(form) {
  const input = form.querySelector("input[type=search]");
  let timer = 0;
  let latest = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });

  async function show() {
    const url = new URL(form.action);
    url.search = new URLSearchParams(new FormData(form)).toString();
    const number = latest += 1;
    const found = document.querySelector("[data-found]");
    found.setAttribute("aria-busy", "true");
    try {
      const page = await fetchPage(url.href);
      // An answer may arrive after that to a later text.
      if (number !== latest) return;
      replaceRows(page);
      const chips = document.querySelector(".find .chips");
      if (chips) chips.replaceChildren(...adopted(page.querySelector(".find .chips")));
      history.replaceState(null, "", url);
    } catch {
      form.submit();
    } finally {
      found.removeAttribute("aria-busy");
    }
  }
}

function replaceRows(page) {
  document.querySelector("[data-found]").replaceChildren(...adopted(page.querySelector("[data-found]")));
  prepareSelection();
  document.dispatchEvent(new CustomEvent("strongroom:rows"));
}

// The panel has changed a row; what is selected stays so.
document.addEventListener("strongroom:changed", async () => {
  const chosen = new Set([...document.querySelectorAll("tr[data-id] .choice :checked")].map((box) => box.value));
  replaceRows(await fetchPage(location.href));
  for (const box of document.querySelectorAll("tr[data-id] .choice input")) box.checked = chosen.has(box.value);
});

// A press on a row follows its link.
document.addEventListener("click", (event) => {
  const isOfControl = event.target.closest("a, button, input, label, .choice, .action");
  if (!isOfControl && getSelection().isCollapsed) event.target.closest("tr[data-id]")?.querySelector("td a")?.click();
});

// Puts a box that selects all rows into the heading of the column.
function prepareSelection() {
  for (const heading of document.querySelectorAll("[data-selection] th.choice")) {
    const label = heading.querySelector(".unseen");
    if (!label) continue;
    const box = Object.assign(document.createElement("input"), {type: "checkbox"});
    box.setAttribute("aria-label", heading.closest("form").dataset.selection || label.textContent);
    heading.replaceChildren(box);
    const boxes = () => [...heading.closest("table").querySelectorAll("tbody .choice input")];
    box.addEventListener("change", () => { for (const one of boxes()) one.checked = box.checked; });
    heading.closest("table").addEventListener("change", () => {
      const checked = boxes().filter((one) => one.checked).length;
      box.checked = checked > 0 && checked === boxes().length;
      box.indeterminate = checked > 0 && !box.checked;
    });
  }
}
