// The rows of a list of files, and which of them are selected.

import {adopted, fetchPage, send} from "strongroom/documents.js";
import {countText} from "strongroom/texts.js";
import {text} from "./texts.js";

// The rows of a list: further pages are added as the user scrolls, and a change refreshes them in place.

const AHEAD = "1000px"; // How far below the window further rows are fetched.
const KEPT = "1000px"; // How far from the window rows are laid out.
const MOST_REFRESHED = 10; // Pages.

const list = document.getElementById("list");
let fetching = null;
let pages = 1;

export const table = () => document.getElementById("nodes");
export const rows = () => [...(table()?.querySelectorAll("tr[data-id]") ?? [])];

const nearEnd = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) showMore();
}, {rootMargin: AHEAD});

// Hides the groups of rows that are far away, because the layout of a hundred thousand rows takes long. Their
// checkboxes stay in the form. A page has several groups, so that a jump lays out few rows.
const nearWindow = new IntersectionObserver((entries) => {
  // The heights of the entries, because reading them of the elements would lay out the list between two changes.
  for (const {target, isIntersecting, boundingClientRect} of entries) {
    isIntersecting ? unfold(target) : fold(target, boundingClientRect.height);
  }
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
  const bodies = adopted(page.getElementById("nodes")).filter((part) => part.tagName === "TBODY");
  // A change of the list meanwhile shifts its pages.
  for (const row of bodies.flatMap((body) => [...body.rows])) if (known.has(row.dataset.id)) row.remove();
  table().append(...bodies);
  pages += 1;
  const fresh = page.querySelector(".pages");
  fresh.querySelector("a[rel=prev]")?.remove();
  links.replaceChildren(...adopted(fresh));
  nearEnd.unobserve(links);
  prepareList();
  list.dispatchEvent(new CustomEvent("strongroom:rows", {bubbles: true}));
  if (takesFocus) bodies[0].querySelector("a")?.focus();
}

// Shows the list as it is now; what is chosen stays so, and the focus stays at its row.
export async function refresh() {
  await fetching;
  const most = Math.min(MOST_REFRESHED, pages);
  const fresh = await fetchPage(location.href);
  const chosen = new Set(rows().filter((row) => row.querySelector("input").checked).map((row) => row.dataset.id));
  const focused = document.activeElement?.closest("tr[data-id]")?.dataset.id;
  nearWindow.disconnect();
  nearEnd.disconnect();
  list.replaceChildren(...adopted(fresh.getElementById("list")));
  const total = fresh.querySelector(".filters .total");
  if (total) document.querySelector(".filters .total")?.replaceChildren(...adopted(total));
  pages = 1;
  prepareList();
  for (let shown = 1; shown < most; shown += 1) await showMore();
  for (const row of rows()) row.querySelector("input").checked = chosen.has(row.dataset.id);
  if (focused) rowOf(focused)?.querySelector("a").focus();
  list.dispatchEvent(new CustomEvent("strongroom:rows", {bubbles: true}));
}

export function rowOf(id) {
  return rows().find((row) => row.dataset.id === id);
}

function fold(body, height) {
  if (body.classList.contains("folded") || body.contains(document.activeElement)) return;
  const cell = document.createElement("td");
  cell.colSpan = 9;
  cell.style.height = `${height}px`;
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

// What is done with rows: by keys, by a menu, in place, and by drag.


// A new name in place of the old one, in the row of the list.

export function startRename(row) {
  const link = row.querySelector("td a");
  const input = Object.assign(document.createElement("input"), {value: row.dataset.name, maxLength: 255, required: true});
  input.setAttribute("aria-label", text("name"));
  input.autocomplete = "off";
  link.hidden = true;
  link.after(input);
  input.focus();
  // The name without its ending.
  const end = row.dataset.type === "file" ? row.dataset.name.lastIndexOf(".") : -1;
  input.setSelectionRange(0, end > 0 ? end : input.value.length);
  let isOver = false; // The removal of the field takes the focus from it.
  const stop = (takesFocus = true) => {
    if (isOver) return;
    isOver = true;
    input.remove();
    link.hidden = false;
    if (takesFocus) link.focus();
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") stop();
    if (event.key !== "Enter" || event.isComposing) return;
    // Enter would send the form around the list.
    event.preventDefault();
    if (input.value.trim() === row.dataset.name) stop();
    else if (input.reportValidity()) rename(row, input.value).finally(() => stop(false));
  });
  input.addEventListener("blur", () => stop(false));
}

async function rename(row, name) {
  const {id} = row.dataset;
  const form = document.createElement("form");
  form.method = "post";
  form.action = document.getElementById("selection").action.replace(/\/selection\/.*/, `/nodes/${id}/rename`);
  form.hidden = true;
  for (const [key, value] of Object.entries({csrf: document.querySelector("#selection [name=csrf]").value, name})) {
    form.append(Object.assign(document.createElement("input"), {name: key, value}));
  }
  try {
    await send(form);
    await refresh();
    rowOf(id)?.querySelector("a").focus();
  } catch {
    // The server's own page shows what is wrong.
    document.body.append(form);
    form.submit();
  }
}

// The list by keyboard: each key does what a button or link of the page does.

const linkOf = (row) => row.querySelector("td a");
const current = () => document.activeElement?.closest("#nodes tr[data-id]") ?? null;

function focusRow(row) {
  if (!row) return;
  unfold(row.parentElement);
  linkOf(row).focus({preventScroll: true});
  row.scrollIntoView({block: "nearest"});
}

// In the view of tiles, the rows above and below are further away.
function columns() {
  const isGrid = table().classList.contains("grid");
  return isGrid ? getComputedStyle(table().tBodies[0]).gridTemplateColumns.split(" ").length : 1;
}

async function move(step, isRange) {
  const all = rows();
  const from = all.indexOf(current());
  const index = from < 0 ? (step > 0 ? 0 : all.length - 1) : from + step;
  if (index >= all.length) {
    await showMore();
    return focusRow(rows()[index] ?? all.at(-1));
  }
  focusRow(all[Math.max(0, index)]);
  if (isRange) {
    if (from >= 0 && !isChosen(all[from])) choose(all[from], true);
    chooseRange(all[Math.max(0, index)]);
  }
}

function remove() {
  const row = current();
  if (row && !chosenRows().length) choose(row, true);
  if (chosenRows().length) document.querySelector('#selection button[formaction$="/selection/delete"]')?.click();
}

const ANYWHERE = {
  "/": () => (document.querySelector("input[type=search]") ?? document.querySelector("input[name=name]"))?.focus(),
  "?": () => document.getElementById("keys")?.showModal(),
  ArrowDown: (event) => move(columns(), event.shiftKey),
  ArrowUp: (event) => move(-columns(), event.shiftKey),
  ArrowRight: (event) => table().classList.contains("grid") && move(1, event.shiftKey),
  ArrowLeft: (event) => table().classList.contains("grid") && move(-1, event.shiftKey),
  Delete: remove,
};
const IN_ROW = {
  Home: () => focusRow(rows()[0]),
  End: () => focusRow(rows().at(-1)),
  " ": (event) => (event.shiftKey ? chooseRange(current()) : choose(current())),
  F2: () => startRename(current()),
  Escape: () => chooseAll(false),
};

document.addEventListener("keydown", (event) => {
  const {target} = event;
  if (event.defaultPrevented || event.altKey || event.isComposing || document.querySelector("dialog:modal") || event.target.closest("dialog")) return;
  const isTyping = target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]");
  if (isTyping) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() === "a" && current()) {
      event.preventDefault();
      chooseAll();
    }
    return;
  }
  // The keys of a control belong to it: Space of a button, arrows of a player.
  const isFree = target === document.body || target.closest("#nodes");
  const isOfRow = current() && !(event.key === " " && target.type === "checkbox");
  const act = (isOfRow && IN_ROW[event.key]) || ((isFree || "/?".includes(event.key)) && table() && ANYWHERE[event.key]);
  if (!act) return;
  event.preventDefault();
  act(event);
});

// One row is renamed where it stands.
document.addEventListener("click", (event) => {
  const isRename = event.target.closest('#selection button[formaction$="/selection/rename"]');
  if (!isRename || chosenRows().length !== 1) return;
  event.preventDefault();
  startRename(chosenRows()[0]);
});

// The menu of a row: by its button, the other button of the pointer, a long press, or the keyboard.
// Its entries are the buttons of the selection, and apply to all selected rows if the row is one of them.

const LONG_PRESS = 500; // Milliseconds.
const RELEASE = 60; // Milliseconds after which the browser has closed the menu.
const EDGE = 8; // The least distance of the menu from the edges of the window, in pixels.

const menu = document.getElementById("row-menu");
const rowAt = (event) => event.target.closest?.("#nodes tr[data-id]");
let row = null;
let opener = null;
let isPressed = false;

addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { isPressed = false; }, true);

function openAt(target, left, top, from) {
  [row, opener] = [target, from];
  const several = isChosen(row) && chosenRows().length > 1;
  const {permission, type} = row.dataset;
  for (const item of menu.querySelectorAll("[data-act]")) {
    const needs = item.dataset.needs?.split(" ") ?? [permission];
    const isSingle = ["open", "details", "share", "rename"].includes(item.dataset.act);
    item.hidden = !needs.includes(permission) || (several && isSingle);
  }
  menu.querySelector("[data-act=open]").hidden ||= type !== "folder";
  show(left, top);
  // The release of a press outside a popover closes it.
  if (isPressed) addEventListener("pointerup", () => setTimeout(() => menu.matches(":popover-open") || show(left, top), RELEASE), {once: true});
}

function show(left, top) {
  menu.showPopover();
  if (matchMedia("(max-width: 34rem)").matches) return;
  menu.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - menu.offsetWidth - EDGE))}px`;
  menu.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - menu.offsetHeight - EDGE))}px`;
}

if (menu) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#nodes [data-more]");
    if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const edge = button.getBoundingClientRect();
    openAt(rowAt(event), edge.right - 200, edge.bottom, button);
  });

  document.addEventListener("contextmenu", (event) => {
    const target = rowAt(event);
    if (!target || event.target.closest("input[maxlength]") || event.shiftKey && event.button === 2) return;
    event.preventDefault();
    const edge = event.target.getBoundingClientRect();
    // The keyboard has no place.
    const isByKey = event.button !== 2 && event.pointerType !== "touch";
    openAt(target, isByKey ? edge.left : event.clientX, isByKey ? edge.bottom : event.clientY, target.querySelector("td a"));
  });

  preparePress();
  menu.addEventListener("click", (event) => {
    const act = event.target.closest("[data-act]")?.dataset.act;
    if (act) apply(act);
  });
  menu.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && document.activeElement === document.body && opener?.isConnected) opener.focus();
  });
}

// Browsers of phones without the event "contextmenu".
function preparePress() {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  document.addEventListener("pointerdown", (event) => {
    const target = event.pointerType === "touch" && rowAt(event);
    if (!target || event.target.closest("button, input, [data-more]")) return;
    timer = setTimeout(() => {
      if (menu.matches(":popover-open")) return;
      openAt(target, event.clientX, event.clientY, target.querySelector("td a"));
      // The release of the finger opens nothing.
      document.addEventListener("click", (click) => { click.preventDefault(); click.stopPropagation(); }, {capture: true, once: true});
    }, LONG_PRESS);
  });
  for (const name of ["pointerup", "pointermove", "pointercancel"]) document.addEventListener(name, stop);
}

function apply(act) {
  const link = row.querySelector("td a");
  if (act === "rename") return startRename(row);
  if (act === "select") return choose(row, true);
  if (act === "open") return location.assign(link.href);
  if (act === "details" || act === "share") {
    const {href} = row.querySelector("[data-more]");
    return document.dispatchEvent(new CustomEvent(`strongroom:${act}`, {detail: act === "share" ? `${href}/share` : href}));
  }
  if (!isChosen(row)) {
    chooseAll(false);
    choose(row, true);
  }
  const path = `/selection/${act}`;
  const form = document.getElementById("selection");
  [...form.querySelectorAll("#actions button")].find((button) => new URL(button.formAction).pathname.endsWith(path))?.click();
}

// Rows that are dragged onto a folder are moved there. The button that moves does the same.

const TYPE = "application/x-strongroom-nodes";
const mover = () => document.querySelector('#selection button[formaction$="/selection/move"]');

export function prepareDrag() {
  for (const row of mover() ? rows() : []) row.draggable = true;
}

// Returns the folder that the pointer is over: a row that is not dragged itself, or the top level.
function targetOf(event) {
  const row = event.target.closest?.('#nodes tr[data-type="folder"]');
  return row && !isChosen(row) && event.dataTransfer.types.includes(TYPE) ? row : null;
}

document.addEventListener("dragstart", (event) => {
  const row = event.target.closest?.("#nodes tr[draggable=true]");
  if (!row) return;
  if (!isChosen(row)) {
    chooseAll(false);
    choose(row, true);
  }
  event.dataTransfer.setData(TYPE, "");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setDragImage(label(), -12, -12);
});

function label() {
  const element = document.getElementById("dragged");
  element.textContent = text("selected", {count: chosenRows().length});
  return element;
}

document.addEventListener("dragover", (event) => {
  const row = targetOf(event);
  mark(row);
  if (row) event.preventDefault();
});
document.addEventListener("dragend", () => mark(null));
document.addEventListener("drop", (event) => {
  const row = targetOf(event);
  mark(null);
  if (!row) return;
  event.preventDefault();
  moveInto(row.dataset.id);
});

function mark(row) {
  for (const marked of document.querySelectorAll("#nodes tr.target")) marked.classList.toggle("target", marked === row);
  row?.classList.add("target");
}

function moveInto(id) {
  const form = document.getElementById("selection");
  form.append(Object.assign(document.createElement("input"), {type: "hidden", name: "at", value: id}));
  form.action = `${mover().formAction}-here`;
  form.submit();
}
