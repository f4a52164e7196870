// The menu of a row: by its button, the other button of the pointer, a long press, or the keyboard.
// Its entries are the buttons of the selection, and apply to all selected rows if the row is one of them.

import {startRename} from "./rename.js";
import {choose, chooseAll, chosenRows, isChosen} from "./selection.js";

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
