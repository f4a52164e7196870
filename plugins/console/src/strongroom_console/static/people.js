// Lists of people: a search that applies while one types, and a box that selects all rows.

import {adopted, fetchPage} from "./documents.js";

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
      found.replaceChildren(...adopted(page.querySelector("[data-found]")));
      const chips = document.querySelector(".find .chips");
      if (chips) chips.replaceChildren(...adopted(page.querySelector(".find .chips")));
      history.replaceState(null, "", url);
      prepareSelection();
    } catch {
      form.submit();
    } finally {
      found.removeAttribute("aria-busy");
    }
  }
}

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
