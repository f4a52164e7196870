// The rows of a list of files, and which of them are selected.

import {adopted, fetchPage} from "./documents.js";
import {countText, text} from "./texts.js";

// The rows of a list: further pages are added as the user scrolls, and a change refreshes them in place.

const AHEAD = "1000px"; // How far below the window further rows are fetched.
const KEPT = "4000px"; // How far from the window rows are laid out.
const MOST_REFRESHED = 10; // Pages.

const list = document.getElementById("list");
let fetching = null;

export const table = () => document.getElementById("nodes");
export const rows = () => [...(table()?.querySelectorAll("tr[data-id]") ?? [])];

const nearEnd = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) showMore();
}, {rootMargin: AHEAD});

// Hides the rows of pages that are far away, because the layout of a hundred thousand rows takes long. Their
// checkboxes stay in the form.
const nearWindow = new IntersectionObserver((entries) => {
  for (const {target, isIntersecting} of entries) isIntersecting ? unfold(target) : fold(target);
}, {rootMargin: KEPT});

export function prepareList() {
  const links = list.querySelector(".pages");
  const next = links?.querySelector("a[rel=next]");
  for (const body of table()?.tBodies ?? []) nearWindow.observe(body);
  if (!next) return;
  const button = Object.assign(document.createElement("button"), {type: "button", className: "plain", textContent: text("more")});
  button.addEventListener("click", () => showMore(true));
  next.hidden = true;
  next.after(button);
  nearEnd.observe(links);
}

// Adds the rows of the next page; with a key pressed, the focus goes to the first of them.
export function showMore(takesFocus = false) {
  fetching ??= addPage(takesFocus).catch(() => {}).finally(() => { fetching = null; });
  return fetching;
}

async function addPage(takesFocus) {
  const links = list.querySelector(".pages");
  const next = links?.querySelector("a[rel=next]");
  if (!next) return;
  const page = await fetchPage(next.href);
  const known = new Set(rows().map((row) => row.dataset.id));
  const body = document.createElement("tbody");
  body.append(...adopted(page.querySelector("#nodes tbody")));
  // A change of the list meanwhile shifts its pages.
  for (const row of body.querySelectorAll("tr")) if (known.has(row.dataset.id)) row.remove();
  table().append(body);
  const fresh = page.querySelector(".pages");
  fresh.querySelector("a[rel=prev]")?.remove();
  links.replaceChildren(...adopted(fresh));
  nearEnd.unobserve(links);
  prepareList();
  list.dispatchEvent(new CustomEvent("strongroom:rows"));
  if (takesFocus) body.querySelector("a")?.focus();
}

// Shows the list as it is now; what is chosen stays so, and the focus stays at its row.
export async function refresh() {
  await fetching;
  const pages = Math.min(MOST_REFRESHED, table()?.tBodies.length ?? 1);
  const fresh = await fetchPage(location.href);
  const chosen = new Set(rows().filter((row) => row.querySelector("input").checked).map((row) => row.dataset.id));
  const focused = document.activeElement?.closest("tr[data-id]")?.dataset.id;
  nearWindow.disconnect();
  nearEnd.disconnect();
  list.replaceChildren(...adopted(fresh.getElementById("list")));
  const total = fresh.querySelector(".filters .total");
  if (total) document.querySelector(".filters .total")?.replaceChildren(...adopted(total));
  prepareList();
  for (let shown = 1; shown < pages; shown += 1) await showMore();
  for (const row of rows()) row.querySelector("input").checked = chosen.has(row.dataset.id);
  if (focused) rowOf(focused)?.querySelector("a").focus();
  list.dispatchEvent(new CustomEvent("strongroom:rows"));
}

export function rowOf(id) {
  return rows().find((row) => row.dataset.id === id);
}

function fold(body) {
  if (body.classList.contains("folded") || body.contains(document.activeElement)) return;
  const cell = document.createElement("td");
  cell.colSpan = 9;
  cell.style.height = `${body.offsetHeight}px`;
  const spacer = document.createElement("tr");
  spacer.className = "spacer";
  spacer.append(cell);
  body.classList.add("folded");
  body.append(spacer);
}

export function unfold(body) {
  body.classList.remove("folded");
  body.querySelector(".spacer")?.remove();
}

// The selection of rows: all, a range with Shift, and the bar of actions with the number of selected rows.

let anchor = null; // The row that a range begins at.

export const isChosen = (row) => row.querySelector("input[name=node]").checked;
export const chosenRows = () => rows().filter(isChosen);

export function choose(row, isOn = !isChosen(row)) {
  row.querySelector("input[name=node]").checked = isOn;
  anchor = row;
  showSelection();
}

// Chooses all rows between the last chosen one and this one.
export function chooseRange(row) {
  const all = rows();
  const ends = [all.indexOf(anchor?.isConnected ? anchor : row), all.indexOf(row)].sort((a, b) => a - b);
  for (const between of all.slice(ends[0], ends[1] + 1)) between.querySelector("input[name=node]").checked = true;
  showSelection();
}

export function chooseAll(isOn = true) {
  for (const row of rows()) row.querySelector("input[name=node]").checked = isOn;
  showSelection();
}

// Puts the box that chooses all rows into the head of the table.
export function prepareSelection() {
  const cell = table()?.querySelector("thead .choice");
  if (!cell || cell.querySelector("input")) return showSelection();
  const box = Object.assign(document.createElement("input"), {type: "checkbox", id: "choose-all"});
  box.setAttribute("aria-label", text("select-all"));
  box.addEventListener("change", () => chooseAll(box.checked));
  cell.replaceChildren(box);
  showSelection();
}

function showSelection() {
  const count = chosenRows().length;
  const box = document.getElementById("choose-all");
  if (box) {
    box.checked = count > 0 && count === rows().length;
    box.indeterminate = count > 0 && !box.checked;
  }
  const bar = document.getElementById("actions");
  if (!bar) return;
  bar.classList.toggle("raised", count > 0);
  const state = bar.querySelector("output") ?? bar.insertBefore(document.createElement("output"), bar.firstChild);
  state.textContent = count ? text("selected", {count: countText(count)}) : "";
}

document.addEventListener("click", (event) => {
  const row = event.target.closest("#nodes tr[data-id]");
  if (!row || event.target.closest("a, button, input:not([name=node]), label")) return;
  if (event.shiftKey) {
    if (event.target.type === "checkbox") event.target.checked = true;
    chooseRange(row);
    getSelection().removeAllRanges();
  } else if (event.target.type === "checkbox") choose(row, event.target.checked);
  else choose(row);
});
