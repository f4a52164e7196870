// What is done with rows: by keys, by a menu, in place, and by drag.

import {send} from "./documents.js";
import {choose, chooseAll, chooseRange, chosenRows, isChosen, refresh, rowOf, rows, showMore, table, unfold} from "./rows.js";
import {text} from "./texts.js";

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
  linkOf(row).focus();
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
  if (isPressed) addEventListener("pointerup", () => setTimeout(() => menu.matches(":popover-open") || show(left, top)), {once: true});
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
    const details = row.querySelector("[data-more]").href;
    return document.dispatchEvent(new CustomEvent("strongroom:details", {detail: act === "share" ? `${details}/share` : details}));
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
